/** A filter that says `column` is exactly `text`. */
export function equals(column: string, text: string): string {
  return `${column}="${text.replace(/(["\\])/g, "\\$1")}"`;
}
