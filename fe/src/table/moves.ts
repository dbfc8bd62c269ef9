/** Which row a key leads to. Pure. */
import { jump } from "../ui";

/** Rows that Page Down goes on by. */
const PAGE = 15;

/** Null for keys that do not move. `at` is -1 while no row is active; `rows`: how many there are. */
export function moveTo(key: string, at: number, rows: number): number | null {
  const wanted = destination(key, at, rows);
  return wanted === null ? null : Math.max(0, Math.min(rows - 1, wanted));
}

function destination(key: string, at: number, rows: number): number | null {
  switch (key) {
    case "ArrowDown":
      return at + 1;
    case "ArrowUp":
      return at - 1;
    default:
      return jump(key, at, rows, PAGE);
  }
}
