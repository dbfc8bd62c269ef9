import { expect, it } from "vitest";
import { keyAction } from "./keys";

const press = (key: string, more: object = {}) =>
  keyAction({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

it("zooms with W and S, one the opposite of the other", () => {
  const [closer, away] = [press("w"), press("s")];
  if (closer?.type !== "zoom" || away?.type !== "zoom") throw new Error("no zoom");
  expect(closer.factor).toBeLessThan(1);
  expect(closer.factor * away.factor).toBeCloseTo(1, 12);
  expect(press("W", { shiftKey: true })).toMatchObject({ type: "zoom" });
});

it("moves with A and D, farther with Shift", () => {
  const [left, far] = [press("a"), press("A", { shiftKey: true })];
  if (left?.type !== "pan" || far?.type !== "pan") throw new Error("no move");
  expect(left.share).toBeLessThan(0);
  expect(far.share).toBeLessThan(left.share);
});

it.each([
  ["ArrowLeft", { type: "neighbour", by: -1 }],
  ["ArrowDown", { type: "depth", by: 1 }],
  [".", { type: "sameName", by: 1 }],
  ["[", { type: "step", by: -1 }],
  ["c", { type: "along", by: 1 }],
  ["n", { type: "flag", by: 1 }],
  ["u", { type: "chain", by: -1 }],
  ["r", { type: "partner" }],
  ["x", { type: "measure" }],
  ["f", { type: "fit" }],
  ["m", { type: "range" }],
  ["p", { type: "pin" }],
  ["Enter", { type: "inspect" }],
  ["Escape", { type: "back" }],
])("%s", (key, action) => expect(press(key)).toEqual(action));

it("leaves the keys of the page and of the browser alone", () => {
  for (const key of ["g", "1", "/", "?", "Tab", "F5", "k"]) expect(press(key), key).toBeNull();
  expect(press("f", { ctrlKey: true })).toBeNull();
  expect(press("ArrowLeft", { altKey: true })).toBeNull();
});
