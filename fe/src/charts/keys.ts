/** Moving through the marks of a picture by keyboard. Pure. */
import { jump } from "../ui";

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
    default:
      return jump(key, at, count, PAGE);
  }
}
