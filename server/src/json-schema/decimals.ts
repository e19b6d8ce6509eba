import type { StepCounter } from './step-counter.js';

/** A positive number as digits × 10^exponent, exactly as its shortest decimal text says. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

// Up to here a decimal text and its double stand for each other, so that doubles can be used.
const maxExactDigits = 1e15;
const maxExactPower = 22;

/**
 * A test for multiples in decimal arithmetic: 19.99 is a multiple of 0.01. An infinite value, read
 * from a number such as `1e400`, counts as one, since its digits are lost.
 * @param divisor finite and positive
 */
export function multiplesOf(divisor: number): (value: number, counter: StepCounter) => boolean {
  const unit = decimalOf(divisor);
  const isCommon = unit.digits <= maxExactDigits && unit.exponent <= 0 && unit.exponent >= -maxExactPower;
  const scale = 10 ** -unit.exponent;
  const scaledDivisor = Number(unit.digits);
  return (value, counter) => {
    if (!Number.isFinite(value)) return true;
    const scaled = Math.round(value * scale);
    if (isCommon && Math.abs(scaled) <= maxExactDigits) {
      return scaled / scale === value && scaled % scaledDivisor === 0;
    }
    return isMultiple(decimalOf(value), unit, counter);
  };
}

// Far exponents make numbers of several hundred digits.
function isMultiple(dividend: Decimal, unit: Decimal, counter: StepCounter): boolean {
  const shift = dividend.exponent - unit.exponent;
  counter.spend(60 + Math.abs(shift));
  if (shift >= 0) return (dividend.digits * 10n ** BigInt(shift)) % unit.digits === 0n;
  return dividend.digits % (unit.digits * 10n ** BigInt(-shift)) === 0n;
}

function decimalOf(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(Math.abs(value)).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
