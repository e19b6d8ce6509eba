/** Names joined by commas, as many as fit, and how many are left. */
export function listNames(names: readonly string[], maxLength: number): string {
  let text = '';
  for (const [index, name] of names.entries()) {
    const next = index === 0 ? name : `${text}, ${name}`;
    if (index > 0 && next.length > maxLength) return `${text} and ${names.length - index} more`;
    text = next;
  }
  return text;
}
