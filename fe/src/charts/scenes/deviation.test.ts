import { expect, it } from "vitest";
import { shapesOf, THEME, textsOf } from "../testTheme";
import { deviationPicture } from "./deviation";

const theme = {
  ...THEME,
  text: "#000000",
  surface: "#ffffff",
  line: "#eeeeee",
  resolve: (color: string) => (color === "var(--better)" ? "#0000ff" : "#ff8800"),
};
const cell = (rank: number, value: number | null, marked = false) => ({
  ...{ row: rank >> 1, column: rank % 2, label: `${rank}`, value, marked },
});
const DATA = {
  rows: ["node0", "node1"],
  columns: 2,
  cells: [cell(0, 90), cell(1, 100), cell(2, 140, true), cell(3, null)],
  unit: "ns" as const,
};

it("is the surface at the median, blue below, orange above, the farther the stronger", () => {
  const { shapes } = deviationPicture(DATA, theme, 276);
  const [below, median, above, unknown] = shapesOf(shapes, "rect").map(({ fill }) => fill);
  expect([median, unknown]).toEqual(["#ffffff", "#eeeeee"]);
  const strength = (fill = "") =>
    255 - Number.parseInt(fill.slice(below === fill ? 1 : 5, below === fill ? 3 : 7), 16);
  expect(strength(above)).toBeGreaterThan(3 * strength(below));
  expect(textsOf(shapes)).toEqual(["node0", "node1", "0  −10 ns", "1  0 ns", "2  +40 ns", "3"]);
});

it("finds each tile where its mark is, and goes from row to row", () => {
  const picture = deviationPicture(DATA, theme, 276);
  expect(picture.marks.map((mark) => picture.at(mark?.x ?? 0, mark?.y ?? 0))).toEqual([0, 1, 2, 3]);
  expect([
    picture.move?.("ArrowDown", 1),
    picture.move?.("ArrowUp", 1),
    picture.move?.("End", 0),
  ]).toEqual([3, 1, 3]);
  expect(picture.move?.("Enter", 0)).toBeNull();
});
