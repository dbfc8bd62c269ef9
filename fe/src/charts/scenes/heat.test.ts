import { describe, expect, it } from "vitest";
import { type HeatData, heatGrid, heatOf, heatPixels } from "../heat";
import { svgText } from "../save";
import { shapesOf, THEME, textsOf } from "../testTheme";
import { heatPicture } from "./heat";

const DATA: HeatData = {
  values: [10, 10, 30, 10, 90, 10, null, null, null, 20, 20, 20],
  columns: 3,
  order: [0, 1, 2, 3],
  outliers: [],
  middle: null,
  spread: null,
};

function drawn(data: HeatData, mostRows = 10, mostColumns = 10) {
  const grid = heatGrid(data, mostRows, mostColumns);
  const columnNames = Array.from({ length: data.columns }, (_, at) => `s${at}`);
  const rowNames = data.order.map((row) => `r${row}`);
  const amount = (value: number) => `${value} ns`;
  const labels = { rowLabel: "Rank", columnLabel: "Step", rowNames, columnNames };
  const theme = { ...THEME, resolve: () => "#000000", surface: "#ffffff" };
  return {
    grid,
    theme,
    ...heatPicture({ grid, row: -1, column: -1, amount, ...labels }, theme, 678),
  };
}

describe("cells", () => {
  it("tell nothing known from little", () => {
    const grid = heatGrid(DATA, 10, 10);
    expect([...grid.values.slice(3, 9)]).toEqual([10, 90, 10, Number.NaN, Number.NaN, Number.NaN]);
    expect(heatOf(grid, grid.least)).toBeGreaterThan(0);
    const colors = Uint32Array.from({ length: 256 }, (_, at) => at + 1);
    const pixels = heatPixels(grid, colors);
    expect([...pixels.slice(6, 9)]).toEqual([0, 0, 0]);
    expect(pixels[4]).toBe(256);
  });

  it("are shared as the largest of what is in them, and remember which that is", () => {
    const grid = heatGrid({ ...DATA, order: [3, 2, 1, 0], outliers: [4] }, 2, 2);
    expect([grid.rows, grid.columns, grid.perRow, grid.perColumn]).toEqual([2, 2, 2, 2]);
    expect([...grid.values]).toEqual([20, 20, 90, 30]);
    // By place in the order and column.
    expect([...grid.items]).toEqual([0, 2, 2 * 3 + 1, 3 * 3 + 2]);
    expect(grid.marked).toEqual([2]);
  });

  it("keep their differences beside one far outlier", () => {
    const values = [...Array.from({ length: 100 }, (_, row) => 100 + (row % 5)), 10_000];
    const order = [...values.keys()];
    const far = { values, columns: 1, order, outliers: [], middle: 102, spread: 1 };
    const grid = heatGrid(far, 200, 1);
    expect([grid.least, grid.most, grid.highest]).toEqual([100, 114, 10_000]);
    expect(heatOf(grid, 10_000)).toBe(1);
    expect(heatOf(grid, 104) - heatOf(grid, 100)).toBeGreaterThan(0.2);
  });

  it("of 1,024 rows × 1,000 columns are as many as there is room for", () => {
    const values = new Array(1024 * 1000).fill(1);
    const grid = heatGrid(
      { ...DATA, values, columns: 1000, order: [...Array(1024).keys()] },
      384,
      900,
    );
    expect(grid.rows).toBeLessThanOrEqual(384);
    expect(grid.columns).toBeLessThanOrEqual(900);
  });
});

describe("the picture", () => {
  it("finds each item where its mark is, and nothing beside them", () => {
    const { at, marks } = drawn(DATA);
    for (let item = 0; item < 12; item++) {
      const { x = -1, y = -1 } = marks.at(item) ?? {};
      expect(at(x, y)).toBe(item);
    }
    expect([at(10, 30), at(300, 5), at(677, 30)]).toEqual([null, null, null]);
  });

  it("finds the largest item where several share a cell, each of which has a mark there", () => {
    const { at, marks } = drawn({ ...DATA, order: [3, 2, 1, 0] }, 2, 2);
    const { x = -1, y = -1 } = marks.at(9) ?? {};
    expect(at(x, y)).toBe(7);
  });

  it("is walked in both directions, Home and End within a row", () => {
    const { move } = drawn(DATA);
    const way = ["ArrowDown", "ArrowRight", "ArrowUp", "End", "ArrowRight", "PageDown", "Home"];
    let at = 0;
    const places = way.map((key) => (at = move?.(key, at) ?? -1));
    expect(places).toEqual([3, 4, 1, 2, 2, 11, 9]);
    expect(move?.("x", 0)).toBeNull();
  });

  it("has a scale, names and frames around outliers; as a file, too", () => {
    const { shapes, theme } = drawn({ ...DATA, outliers: [4] });
    expect(textsOf(shapes)).toEqual(expect.arrayContaining(["r0", "s2", "10 ns", "90 ns", "Rank"]));
    // A tick at the right, a frame, and that of the scale.
    expect(shapesOf(shapes, "rect").filter(({ stroke }) => stroke)).toHaveLength(2);
    expect(shapesOf(shapes, "image")).toHaveLength(2);
    expect(svgText(shapes, 678, 200, theme)).toContain("<image");
  });
});
