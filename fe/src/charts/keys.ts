/** Moving through the marks of a picture by keyboard. Pure. */

const PAGE = 10;

/** Where a key leads from mark to mark, or null when it does not. */
export function keyTarget(key: string, at: number, count: number): number | null {
  switch (key) {
    case "ArrowLeft":
    case "ArrowUp":
      return at - 1;
    case "ArrowRight":
    case "ArrowDown":
      return at + 1;
    case "PageUp":
      return Math.max(0, at - PAGE);
    case "PageDown":
      return Math.min(count - 1, at + PAGE);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
