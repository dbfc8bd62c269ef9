import { describe, expect, it } from "vitest";
import { fitted, shorten } from "../labels";
import { shapesOf, THEME, textsOf } from "../testTheme";
import type { HBarItem } from "../types";
import { donutPicture } from "./donut";
import { ganttPicture } from "./gantt";
import { hbarsHeight, hbarsPicture } from "./hbars";
import { logTicks, scatterPicture } from "./scatter";

describe("a donut", () => {
  const sectors = [
    { value: 50, color: "red" },
    { value: 25, color: "blue" },
    { value: 0, color: "green" },
    { value: 25, color: "gray" },
  ];
  const picture = donutPicture(sectors, THEME, 400, 200);

  it("has a slice for each value, from the top and with the clock", () => {
    expect(shapesOf(picture.shapes, "path").map(({ fill }) => fill)).toEqual([
      "red",
      "blue",
      "gray",
    ]);
    const [first, second, none, last] = picture.marks;
    expect(none).toBeNull();
    expect([first?.x, second?.y, last?.y].every((at) => at !== undefined)).toBe(true);
    expect(first?.x).toBeGreaterThan(200);
    expect(second?.y).toBeGreaterThan(100);
    expect(second?.x).toBeLessThan(200);
    expect(last?.y).toBeLessThan(100);
  });

  it("finds the slice under a place, and none in the hole and outside", () => {
    for (const index of [0, 1, 3]) {
      const mark = picture.marks[index];
      expect(picture.at(mark?.x ?? 0, mark?.y ?? 0)).toBe(index);
    }
    expect(picture.at(200, 100)).toBeNull();
    expect(picture.at(5, 5)).toBeNull();
  });

  it("is a whole ring where there is one slice, and nothing without values", () => {
    const [mark] = donutPicture([{ value: 1, color: "red" }], THEME, 200, 200).marks;
    expect(mark?.outline).toContain(" 1 1 ");
    expect(donutPicture([{ value: 0, color: "red" }], THEME, 200, 200).shapes).toEqual([]);
  });
});

describe("bars", () => {
  const bars = (...items: HBarItem[]) => hbarsPicture({ items, unit: "ns" }, THEME, 900);

  it("are as long as their values, with a name before and the value behind", () => {
    const { shapes } = bars(
      { label: "a", value: 8 },
      { label: "b", value: 2 },
      { label: "c", value: 0 },
    );
    const [a, b, c] = shapesOf(shapes, "rect");
    expect((a?.width ?? 0) / (b?.width ?? 1)).toBeCloseTo(4);
    // The least bar is still a bar.
    expect(c?.width).toBe(1);
    expect(textsOf(shapes)).toEqual(["a", "8 ns", "b", "2 ns", "c", "0 ns"]);
  });

  it("have an outline each in a comparison, as long as they were before", () => {
    const compared = bars({ label: "a", value: 5, before: 8 }, { label: "b", value: 1, before: 0 });
    const outlines = shapesOf(compared.shapes, "rect").filter(({ dashed }) => dashed);
    const solid = shapesOf(compared.shapes, "rect").filter(({ fill }) => fill);
    expect(outlines).toHaveLength(2);
    expect((outlines[0]?.width ?? 0) / (solid[0]?.width ?? 1)).toBeCloseTo(8 / 5);
    expect(outlines[1]?.width).toBe(0);
    // The value stands behind the longer of the two.
    const [, value] = shapesOf(compared.shapes, "text");
    const outline = outlines[0];
    expect(value?.x).toBeGreaterThan((outline?.x ?? 0) + (outline?.width ?? 0));
    const alone = bars({ label: "a", value: 5 });
    expect(shapesOf(alone.shapes, "rect").filter(({ dashed }) => dashed)).toEqual([]);
  });

  it("hear a pointer on the whole of their row", () => {
    const picture = bars({ label: "a", value: 5 }, { label: "b", value: 1 });
    const height = hbarsHeight(2);
    expect(picture.marks.map((mark) => picture.at(0, mark?.y ?? -1))).toEqual([0, 1]);
    expect([picture.at(5, 0), picture.at(5, height - 1)]).toEqual([null, null]);
  });

  it("leave the room of the bars free of names", () => {
    const { shapes } = bars({ label: "m".repeat(400), value: 5 });
    const [name] = shapesOf(shapes, "text");
    expect(THEME.measure(name?.text ?? "")).toBeLessThanOrEqual(320);
    expect(name?.text).toContain("…");
  });
});

describe("labels", () => {
  it("keep both ends when shortened", () => {
    expect(shorten("short", 10)).toBe("short");
    expect(shorten("short ", 10)).toBe("short␣");
    expect(shorten("sm80_xmma_gemm_f16_kernel", 13)).toBe("sm80_xmm…rnel");
    expect(shorten("sm80_xmma_gemm_f16_kernel", 13)).toHaveLength(13);
  });

  it("say what a C++ kernel is rather than what all are", () => {
    const name =
      "void at::native::(anonymous namespace)::softmax<8, (at::native::Mode)1>(float const*, g(int))";
    expect(shorten(name, 40)).toBe("softmax<8, (Mode)1>");
    expect(shorten(name, 200)).toBe(name);
    expect(shorten("aten::add) of an odd name", 12)).toHaveLength(12);
  });

  it("are as long as there is room for", () => {
    const measure = (text: string) => [...text].reduce((sum, c) => sum + (c === "W" ? 12 : 4), 0);
    for (const text of ["WWWWWWWWWWiiiiiiiiii", "iiiiiiiiiiWWWWWWWWWW", "iiii"]) {
      const shown = fitted(text, 60, measure, shorten);
      expect(measure(shown)).toBeLessThanOrEqual(60);
      expect(shown.length).toBeGreaterThan(3);
    }
    expect(fitted("iiii", 60, measure, shorten)).toBe("iiii");
  });
});

describe("a scatter", () => {
  const series = [
    {
      key: "a",
      label: "a",
      color: "red",
      points: [
        { x: 1024, y: 1e9 },
        { x: 2 ** 20, y: 1e11 },
      ],
      curve: [
        { x: 1024, y: 1e9 },
        { x: 2 ** 20, y: 1e11 },
      ],
    },
    { key: "b", label: "b", color: "blue", points: [{ x: 2048, y: 1e10 }], curve: [] },
  ];
  const drawn = (of: typeof series) =>
    scatterPicture(
      { series: of, xUnit: "bytes", yUnit: "bytes_per_second", xLabel: "Size", yLabel: "Speed" },
      THEME,
      600,
      280,
    );

  it("has round sizes below and round speeds at the left", () => {
    const texts = textsOf(drawn(series).shapes);
    expect(texts).toContain("1 KiB");
    expect(texts).toContain("100 GB/s");
    expect(texts).toEqual(expect.arrayContaining(["Size", "Speed"]));
    expect(logTicks(1024, 2 ** 20, 2, 5)).toEqual([
      2 ** 10,
      2 ** 12,
      2 ** 14,
      2 ** 16,
      2 ** 18,
      2 ** 20,
    ]);
    expect(logTicks(5, 5, 10, 5)).toEqual([1, 10]);
  });

  it("finds the nearest point, none of a hidden series, and none far away", () => {
    const { marks, at } = drawn(series);
    expect(marks.map((mark) => at(mark?.x ?? 0, mark?.y ?? 0))).toEqual([0, 1, 2]);
    expect(at(-50, -50)).toBeNull();
    const hidden = drawn(series.map((each) => ({ ...each, hidden: each.key === "a" })));
    expect(hidden.marks.map((mark) => mark === null)).toEqual([true, true, false]);
    expect(hidden.at(marks[0]?.x ?? 0, marks[0]?.y ?? 0)).toBeNull();
  });

  it("has axes even without points", () => {
    expect(drawn([]).marks).toEqual([]);
    expect(drawn([]).shapes.length).toBeGreaterThan(0);
  });
});

describe("rows of time", () => {
  const spans = [
    { row: 0, kind: "work", start: 0, end: 50_000_000 },
    { row: 1, kind: "wait", start: 0, end: 40_000_000 },
    { row: 1, kind: "work", start: 40_000_000, end: 100_000_000 },
  ];
  const kinds = [
    { key: "work", label: "Work", color: "red" },
    { key: "wait", label: "Wait", color: "blue" },
  ];
  const picture = ganttPicture({ rows: ["0", "1"], spans, kinds, end: 1e8 }, THEME, 800);

  it("draw each stretch in its row and colour, to scale", () => {
    const boxes = shapesOf(picture.shapes, "rect");
    expect(boxes.map(({ fill }) => fill)).toEqual(["red", "blue", "red"]);
    const [first, second, third] = boxes;
    expect(second?.y).toBe(third?.y);
    expect((third?.width ?? 0) / (first?.width ?? 1)).toBeCloseTo(1.2);
    expect(third?.x).toBeCloseTo((second?.x ?? 0) + (second?.width ?? 0));
  });

  it("find the stretch under a place", () => {
    expect(picture.marks.map((mark) => picture.at(mark?.x ?? 0, mark?.y ?? 0))).toEqual([0, 1, 2]);
    expect(picture.at(790, 10)).toBeNull();
  });
});
