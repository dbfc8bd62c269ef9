import { expect, it } from "vitest";
import { moveTo } from "./moves";

it("leads to the neighbours, a page on, and the ends", () => {
  const to = (key: string, at = 20) => moveTo(key, at, 100);
  expect(
    ["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].map((key) => to(key)),
  ).toEqual([21, 19, 35, 5, 0, 99]);
});

it("stays inside, begins at the first row, and leaves other keys alone", () => {
  expect(moveTo("ArrowDown", -1, 3)).toBe(0);
  expect(moveTo("ArrowUp", 0, 3)).toBe(0);
  expect(moveTo("PageDown", 1, 3)).toBe(2);
  expect(moveTo("Enter", 1, 3)).toBeNull();
});
