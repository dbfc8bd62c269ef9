import { expect, it } from "vitest";
import { shapesOf, THEME, textsOf } from "../testTheme";
import { squarified, treemapPicture } from "./treemap";

const GROUPS = [
  {
    label: "Attention ×12",
    color: "#7a3fa0",
    items: [
      { label: "Linear", value: 40 },
      { label: "itself", value: 20 },
    ],
  },
  { label: "MLP ×12", color: "#2aa198", items: [{ label: "Linear", value: 30 }] },
];

it("fills a box with boxes that have their share of it, and are no strips", () => {
  const values = [6, 6, 4, 3, 2, 2, 1];
  const boxes = squarified(values, { x: 10, y: 20, width: 600, height: 400 });
  expect(boxes.map(({ width, height }) => Math.round((width * height) / 1e4))).toEqual(values);
  for (const { x, y, width, height } of boxes) {
    expect(Math.max(width / height, height / width)).toBeLessThan(3);
    expect([x >= 10, y >= 20, x + width <= 610.001, y + height <= 420.001]).toEqual([
      true,
      true,
      true,
      true,
    ]);
  }
});

it("has room for nothing, and for what takes none", () => {
  expect(squarified([], { x: 0, y: 0, width: 9, height: 9 })).toEqual([]);
  const boxes = squarified([0, 0], { x: 0, y: 0, width: 9, height: 9 });
  expect(boxes.map(({ width, height }) => width * height)).toEqual([0, 0]);
});

it("names groups and items, and finds each item where its mark is", () => {
  const picture = treemapPicture(
    GROUPS,
    { ...THEME, text: "#000000", surface: "#ffffff" },
    600,
    300,
  );
  expect(textsOf(picture.shapes)).toEqual([
    "Attention ×12",
    "Linear",
    "itself",
    "MLP ×12",
    "Linear",
  ]);
  expect(picture.marks.map((mark) => picture.at(mark?.x ?? 0, mark?.y ?? 0))).toEqual([0, 1, 2]);
  const [first, second] = shapesOf(picture.shapes, "rect").slice(1, 3);
  const area = (box = { width: 0, height: 0 }) => (box.width + 1) * (box.height + 1);
  expect(area(first) / area(second)).toBeCloseTo(2);
});
