/** Whether a text is JSON, as `JSON.parse` sees it. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
