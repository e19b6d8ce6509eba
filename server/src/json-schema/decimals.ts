/** A positive number as digits × 10^exponent, exactly as its shortest decimal text says. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/**
 * Whether `value` is a multiple of `divisor`, in decimal arithmetic: 19.99 is a multiple of 0.01.
 * An infinite value, read from a number such as `1e400`, counts as one, since its digits are lost.
 * @param divisor finite and positive
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return true;
  const dividend = decimalOf(value);
  const unit = decimalOf(divisor);
  const shift = dividend.exponent - unit.exponent;
  if (shift >= 0) return (dividend.digits * 10n ** BigInt(shift)) % unit.digits === 0n;
  return dividend.digits % (unit.digits * 10n ** BigInt(-shift)) === 0n;
}

function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(Math.abs(value)).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
