const maxPointerLength = 256;

/** One more segment of a JSON Pointer (RFC 6901). */
export function childPointer(pointer: string, key: string | number): string {
  return `${pointer}/${typeof key === 'number' ? key : escapeSegment(key)}`;
}

/** A JSON Pointer for a message: cut with an ellipsis when it is longer than 256 characters. */
export function boundedPointer(keys: readonly (string | number)[]): string {
  let pointer = '';
  for (const key of keys) {
    pointer = childPointer(pointer, typeof key === 'number' ? key : key.slice(0, maxPointerLength + 1));
    if (pointer.length > maxPointerLength) return `${pointer.slice(0, maxPointerLength)}…`;
  }
  return pointer;
}

/** The unescaped segments of a pointer that starts with `/`. */
export function pointerSegments(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function escapeSegment(key: string): string {
  if (!key.includes('~') && !key.includes('/')) return key;
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
