import { expect, it } from "vitest";
import { shapesOf, THEME, textsOf } from "../testTheme";
import { tornadoPicture } from "./tornado";

const theme = { ...THEME, text: "#000000", surface: "#ffffff" };
const ITEMS = [
  { label: "Compute", color: "#0072b2", most: 80, part: 20, low: 60, high: 100 },
  { label: "Waiting", color: "#882255", most: 40, part: null, low: null, high: null },
];

it("draws what is given at most, in part, and the interval, to one scale", () => {
  const { shapes } = tornadoPicture(ITEMS, "count", theme, 500);
  const [most, part, other, ...none] = shapesOf(shapes, "rect");
  expect(none).toEqual([]);
  expect((part?.width ?? 0) / (most?.width ?? 1)).toBeCloseTo(0.25);
  expect((other?.width ?? 0) / (most?.width ?? 1)).toBeCloseTo(0.5);
  const [, whisker] = shapesOf(shapes, "line");
  expect(((whisker?.x2 ?? 0) - (whisker?.x1 ?? 0)) / (most?.width ?? 1)).toBeCloseTo(0.5);
  expect(textsOf(shapes)).toEqual(["Compute", "80", "Waiting", "40"]);
});

it("finds each item where its mark is", () => {
  const picture = tornadoPicture(ITEMS, "count", theme, 500);
  expect(picture.marks.map((mark) => picture.at(mark?.x ?? 0, mark?.y ?? 0))).toEqual([0, 1]);
  expect(picture.at(10, 500)).toBeNull();
});
