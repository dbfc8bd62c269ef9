import { describe, expect, it } from "vitest";
import { fitted, shorten } from "../labels";
import { shapesOf, THEME, textsOf } from "../testTheme";
import type { HBarItem } from "../types";
import { donutPicture } from "./donut";
import { hbarsHeight, hbarsPicture } from "./hbars";

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
