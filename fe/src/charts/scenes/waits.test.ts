import { expect, it } from "vitest";
import { shapesOf, THEME, textsOf } from "../testTheme";
import { waitsHeight, waitsPicture } from "./waits";

const box = (title: string, column: number, row: number, isNamed = false) => ({
  title,
  about: "all_reduce #7",
  place: "default_pg",
  column,
  row,
  isNamed,
});
const DATA = {
  boxes: [box("Rank 2", 0, 0, true), box("Ranks 0, 1", 1, 0), box("Rank 3", 1, 1)],
  lines: [
    { from: 1, to: 0 },
    { from: 2, to: 1 },
  ],
};
const picture = waitsPicture(DATA, THEME, 800);

it("has a box for each, in columns and rows, and a line with its arrow for each wait", () => {
  expect(textsOf(picture.shapes)).toEqual(
    expect.arrayContaining(["Rank 2", "Ranks 0, 1", "Rank 3"]),
  );
  expect(shapesOf(picture.shapes, "path")).toHaveLength(2 * DATA.lines.length);
  const [first, second, third] = picture.marks;
  expect(second?.x).toBeGreaterThan(first?.x ?? 0);
  expect([third?.x, (third?.y ?? 0) > (second?.y ?? 0)]).toEqual([second?.x, true]);
  expect(waitsHeight(DATA)).toBeGreaterThan(third?.y ?? 0);
});

it("marks who is to blame by more than a colour", () => {
  const bars = shapesOf(picture.shapes, "rect").filter(({ width }) => width === 4);
  expect(bars).toHaveLength(1);
});

it("finds each box where its mark is, and none between them", () => {
  expect(picture.marks.map((mark) => picture.at(mark?.x ?? 0, mark?.y ?? 0))).toEqual([0, 1, 2]);
  const between = ((picture.marks[0]?.x ?? 0) + (picture.marks[1]?.x ?? 0)) / 2;
  expect(picture.at(between, picture.marks[0]?.y ?? 0)).toBeNull();
});

it("keeps every box within a narrow picture", () => {
  const { marks } = waitsPicture(DATA, THEME, 240);
  expect(Math.max(...marks.map((mark) => mark?.x ?? 0))).toBeLessThan(240);
});
