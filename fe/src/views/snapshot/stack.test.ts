import { expect, it } from "vitest";
import { layerAt, layersOf, ranksOf } from "./stack";

const STACKED = {
  requested: [0, 30, 35, 15],
  shapes: {
    begin: [1, 2],
    end: [3, 4],
    bytes: [20, 5],
    line: [1, 0],
    born: [0, 4],
    released: [9, null],
  },
  bands: [{ name: "rest", blocks: 2, bytes: [0, 10, 10, 10] }],
};

it("adds up to the curve in every column", () => {
  const layers = layersOf(STACKED);
  const sums = STACKED.requested.map((_, column) =>
    layers.reduce(
      (sum, { begin, end, low, high }) =>
        begin <= column && column < end
          ? sum + (high[column - begin] ?? 0) - (low[column - begin] ?? 0)
          : sum,
      0,
    ),
  );
  expect(sums).toEqual(STACKED.requested);
});

it("finds what lies at a place", () => {
  const layers = layersOf(STACKED);
  expect(layerAt(layers, 2, 19)?.shape).toBe(0);
  expect(layerAt(layers, 2, 24)?.shape).toBe(1);
  expect(layerAt(layers, 2, 30)?.band).toBe(0);
  expect(layerAt(layers, 2, 35)).toBeNull();
  expect(layerAt(layers, 0, 0)).toBeNull();
});

it("gives the first colour to the line with most bytes", () => {
  const others = { name: "(others)", blocks: 9, bytes: [99, 99, 99, 99] };
  const bands = [...STACKED.bands, others];
  const ranks = ranksOf({ ...STACKED, bands, lines: ["a", "b"] });
  expect([...ranks]).toEqual([
    ["b", 0],
    ["rest", 1],
    ["a", 2],
  ]);
});
