/** Which keys lead far in a list. Pure. */

/** Where Page Up, Page Down, Home and End lead, within the list; null for other keys. `page`: places that a page has. */
export function jump(key: string, at: number, count: number, page: number): number | null {
  switch (key) {
    case "PageUp":
      return Math.max(at - page, 0);
    case "PageDown":
      return Math.min(at + page, count - 1);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
