import { expect, it } from "vitest";
import { between, paintBetween, signed } from "./between";
import { fakeContext } from "./cases";
import { colorsOf } from "./colors";
import type { Scene } from "./scene";

it("tells how far two slices are apart, from every end", () => {
  const found = between({ start: 100, duration: 50 }, { start: 400, duration: 20 });
  expect(found).toEqual({ startToStart: 300, endToStart: 250, startToEnd: 320, endToEnd: 270 });
});

it("is negative where the second comes first or overlaps", () => {
  expect(between({ start: 100, duration: 50 }, { start: 120, duration: 10 }).endToStart).toBe(-30);
  expect(signed(-30_000)).toBe(`−${signed(30_000)}`);
});

it("is written on the picture, but not for a slice and itself", () => {
  const slice = (row: number, start: number) => ({
    worker: "a",
    row,
    lane: 0,
    start,
    duration: 10,
  });
  const scene = (selected: number) =>
    ({
      from: slice(1, 100),
      selected: slice(selected, 300),
      camera: { window: { start: 0, end: 1_000 }, width: 500 },
      colors: colorsOf(() => "#336699", "sans"),
      height: 100,
    }) as unknown as Scene;
  const { context, texts } = fakeContext();
  paintBetween(context, scene(1));
  expect(texts).toEqual([]);
  paintBetween(context, scene(2));
  expect(texts).toEqual([`start to start ${signed(200)}`, `end to start ${signed(190)}`]);
});
