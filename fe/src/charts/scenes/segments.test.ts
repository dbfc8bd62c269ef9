import { describe, expect, it } from "vitest";
import { shapesOf, THEME } from "../testTheme";
import type { SegmentsData } from "../types";
import { segmentBoxes, segmentsHeight, segmentsPicture } from "./segments";

const whole = () => ({ color: "red", part: 1 });
const DATA: SegmentsData = {
  // The first two are beside each other, the third fills a row of its own.
  segments: { bytes: [20, 40, 100] },
  pieces: {
    segment: [0, 0, 1, 2, 2],
    offset: [0, 5, 0, 0, 60],
    bytes: [5, 15, 30, 60, 40],
  },
  look: (piece) => (piece === 1 ? { color: null, part: 0 } : whole()),
};
const picture = segmentsPicture(DATA, THEME, 500);

it("draws segments side by side as wide as they are large, and free memory not at all", () => {
  expect(segmentBoxes(DATA.segments.bytes, 500)).toEqual([
    { x: 0, y: 0, width: 100, height: 10 },
    { x: 102, y: 0, width: 200, height: 10 },
    { x: 0, y: 13, width: 500, height: 10 },
  ]);
  expect([segmentsHeight(DATA.segments.bytes, 500), segmentsHeight([], 500)]).toEqual([26, 0]);
  const fills = shapesOf(picture.shapes, "rect").map(({ fill }) => fill);
  expect(fills.filter((fill) => fill === "red")).toHaveLength(4);
});

it("fills the part of a piece that is in use, from below", () => {
  const half = segmentsPicture({ ...DATA, look: () => ({ color: "red", part: 0.5 }) }, THEME, 500);
  const [piece] = shapesOf(half.shapes, "rect").filter(({ fill }) => fill === "red");
  expect([piece?.y, piece?.height]).toEqual([5, 5]);
});

it("finds each piece where its mark is, and none between and beside segments", () => {
  for (const piece of [0, 1, 2, 3, 4]) {
    const { x = -1, y = -1 } = picture.marks.at(piece) ?? {};
    expect(picture.at(x, y)).toBe(piece);
  }
  const beside = [
    [101, 5],
    [290, 5],
    [400, 5],
    [50, 11],
    [50, 30],
    [-1, 5],
  ] as const;
  expect(beside.map(([x, y]) => picture.at(x, y))).toEqual([null, null, null, null, null, null]);
});

it("is walked by address, and from row to row", () => {
  const way = ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowUp", "End", "ArrowDown"];
  let at = 0;
  const places = way.map((key) => (at = picture.move?.(key, at) ?? -1));
  expect(places).toEqual([1, 2, 3, 2, 2, 4, 4]);
  expect(picture.move?.("x", 0)).toBeNull();
});

describe("of 50,000 pieces", () => {
  const count = 50_000;
  const per = 25;
  let reads = 0;
  const counted = (values: number[]) =>
    new Proxy(values, {
      get: (target, key) => {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key);
      },
    });
  const of = (value: (piece: number) => number) =>
    Array.from({ length: count }, (_, i) => value(i));
  const many = segmentsPicture(
    {
      segments: { bytes: new Array(count / per).fill(per) },
      pieces: {
        segment: counted(of((piece) => Math.floor(piece / per))),
        offset: counted(of((piece) => piece % per)),
        bytes: counted(of(() => 1)),
      },
      look: whole,
    },
    THEME,
    1000,
  );

  it("a pointer that moves, or a key, looks at few of them", () => {
    for (const piece of [0, 17, 24_999, count - 1]) {
      const { x = -1, y = -1 } = many.marks.at(piece) ?? {};
      reads = 0;
      expect(many.at(x, y)).toBe(piece);
      expect(many.move?.("ArrowUp", piece)).toBe(piece < per ? piece : piece - per);
      expect(reads).toBeGreaterThan(0);
      // Three numbers of a piece, and a search by halves each.
      expect(reads).toBeLessThan(3 * 2 * (Math.log2(count) + 4));
    }
  });
});
