import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contrast, mix, parseColor } from "../../draw";
import { builtinLabel, frameLabel, kernelLabel, parseFrameName } from "../../format";
import { svgText } from "../save";
import { THEME } from "../testTheme";
import { fillsOf, HUES, KINDS, paletteOf } from "./colors";
import { fitted } from "./label";
import { boxesOf, chainOf, layoutOf, levelsOf, SMALLEST } from "./layout";
import { boxShapes, ROW } from "./paint";
import { rasterize } from "./pixels";
import { found, moved } from "./walk";

/**
 *  0: 100 ─┬─ 1: 20
 *          └─ 2: 70 ─┬─ 3: 10
 *                    └─ 4: 60
 *  5: 100
 */
const DATA = { size: 6, parent: [-1, 0, 0, 2, 2, -1], own: [10, 20, 0, 10, 60, 100] };
const layout = layoutOf(DATA, false);
const heavy = layoutOf(DATA, true);

describe("layout", () => {
  it("adds up and places", () => {
    expect([...layout.total]).toEqual([100, 20, 70, 10, 60, 100]);
    expect([...layout.left]).toEqual([0, 0, 20, 20, 30, 100]);
    expect([...layout.depth]).toEqual([0, 1, 1, 2, 2, 0]);
    expect([...layout.order]).toEqual([0, 1, 2, 3, 4, 5]);
    expect([...layout.after]).toEqual([5, 2, 5, 4, 5, 6]);
    expect([layout.whole, layout.levels]).toEqual([200, 3]);
  });

  it("puts the largest of siblings at the left", () => {
    expect([...heavy.order]).toEqual([0, 2, 4, 3, 1, 5]);
    expect([...heavy.left]).toEqual([0, 70, 0, 60, 0, 100]);
    expect([...heavy.total]).toEqual([...layout.total]);
  });

  it("takes nothing and nothing below zero", () => {
    expect(layoutOf({ size: 0, parent: [], own: [] }, true)).toMatchObject({ whole: 0, levels: 0 });
    expect(layoutOf({ size: 1, parent: [-1], own: [-5] }, false).whole).toBe(0);
    expect(boxesOf(layoutOf({ size: 1, parent: [-1], own: [0] }, false), -1, 100)).toEqual([]);
  });

  it("keeps the boxes inside of each other in a large random tree", () => {
    const size = 20_000;
    let seed = 1;
    const random = () => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647;
    };
    const parent = Array.from({ length: size }, (_, i) => (i < 5 ? -1 : Math.floor(random() * i)));
    const own = parent.map(() => Math.floor(random() * 100));
    for (const tree of [
      layoutOf({ size, parent, own }, false),
      layoutOf({ size, parent, own }, true),
    ]) {
      expect(tree.whole).toBe(own.reduce((a, b) => a + b, 0));
      expect([...tree.order].sort((a, b) => a - b)).toEqual(parent.map((_, i) => i));
      for (let i = 0; i < size; i++) {
        const above = parent[i] ?? -1;
        if (above < 0) continue;
        const [x, w, ax, aw] = [tree.left[i], tree.total[i], tree.left[above], tree.total[above]];
        if (!((x ?? 0) >= (ax ?? 0) && (x ?? 0) + (w ?? 0) <= (ax ?? 0) + (aw ?? 0))) {
          throw new Error(`${i} is not inside ${above}`);
        }
      }
    }
  });
});

describe("boxes", () => {
  it("fill the width with everything", () => {
    expect(boxesOf(layout, -1, 400)).toEqual([
      { entry: 0, level: 0, x: 0, width: 200 },
      { entry: 1, level: 1, x: 0, width: 40 },
      { entry: 2, level: 1, x: 40, width: 140 },
      { entry: 3, level: 2, x: 40, width: 20 },
      { entry: 4, level: 2, x: 60, width: 120 },
      { entry: 5, level: 0, x: 200, width: 200 },
    ]);
  });

  it("fill the width with what is zoomed into and what is around it", () => {
    expect(boxesOf(layout, 2, 700)).toEqual([
      { entry: 0, level: 0, x: 0, width: 700 },
      { entry: 2, level: 1, x: 0, width: 700 },
      { entry: 3, level: 2, x: 0, width: 100 },
      { entry: 4, level: 2, x: 100, width: 600 },
    ]);
    expect(levelsOf(layout, 2)).toBe(3);
    expect(levelsOf(layout, 1)).toBe(2);
    expect(chainOf(layout, 4)).toEqual([0, 2, 4]);
    expect(chainOf(layout, -1)).toEqual([]);
  });

  it("are only those of some levels", () => {
    expect(boxesOf(layout, -1, 400, 1, 2).map((box) => box.entry)).toEqual([1, 2]);
    expect(boxesOf(layout, 2, 400, 2).map((box) => box.entry)).toEqual([3, 4]);
  });

  it("are one where they are too small to be seen", () => {
    const many = 1000;
    const tree = layoutOf(
      {
        size: many + 2,
        parent: [-1, ...Array(many).fill(0), 0],
        own: [0, ...Array(many).fill(1), many],
      },
      false,
    );
    expect(boxesOf(tree, -1, 100)).toEqual([
      { entry: 0, level: 0, x: 0, width: 100 },
      { entry: -1, level: 1, x: 0, width: 50 },
      { entry: many + 1, level: 1, x: 50, width: 50 },
    ]);
    for (const { width } of boxesOf(tree, -1, 100)) expect(width).toBeGreaterThanOrEqual(SMALLEST);
  });
});

describe("keys", () => {
  it("lead to the caller, the largest child and the neighbours of the level", () => {
    expect(moved(layout, 2, "up", -1)).toBe(0);
    expect(moved(layout, 0, "up", -1)).toBe(0);
    expect(moved(layout, 0, "down", -1)).toBe(2);
    expect(moved(layout, 4, "down", -1)).toBe(4);
    expect(moved(layout, 1, "right", -1)).toBe(2);
    expect(moved(layout, 0, "right", -1)).toBe(5);
    expect(moved(layout, 5, "left", -1)).toBe(0);
    expect(moved(layout, 1, "left", -1)).toBe(1);
    expect(moved(heavy, 2, "right", -1)).toBe(1);
  });

  it("stay inside of what is shown", () => {
    expect(moved(layout, 2, "left", 2)).toBe(2);
    expect(moved(layout, 2, "up", 2)).toBe(0);
    expect(moved(layout, 0, "down", 1)).toBe(1);
  });
});

describe("search", () => {
  const hits = (...rows: number[]) =>
    Uint8Array.from(DATA.own, (_, i) => (rows.includes(i) ? 1 : 0));

  it("counts what is inside of a hit once", () => {
    expect(found(layout, hits(0, 2, 4), -1)).toEqual({ entries: 3, share: 0.5 });
    expect(found(layout, hits(1, 4), -1)).toEqual({ entries: 2, share: 0.4 });
    expect(found(layout, hits(), -1)).toEqual({ entries: 0, share: 0 });
  });

  it("looks only at what is shown", () => {
    expect(found(layout, hits(1, 3, 5), 2)).toEqual({ entries: 1, share: 1 / 7 });
  });
});

describe("labels", () => {
  it("name the function first", () => {
    expect(frameLabel("/lib/torch/linear.py(134): forward")).toBe("forward · linear.py:134");
    expect(frameLabel("C:\\x\\train.py(3): <module>")).toBe("<module> · train.py:3");
    expect(frameLabel("<frozen os>(674): __getitem__")).toBe("__getitem__ · <frozen os>:674");
    expect(frameLabel("no frame")).toBe("no frame");
    expect(parseFrameName("a(b)(12): f(x): y")).toEqual({
      file: "a(b)",
      line: 12,
      func: "f(x): y",
    });
    expect(parseFrameName("aten::mm")).toBeNull();
  });

  it("shorten what is built in and what is C++", () => {
    expect(builtinLabel("<built-in method randn of type object>")).toBe("randn (built-in)");
    expect(builtinLabel("<built-in function next>")).toBe("next (built-in)");
    expect(builtinLabel("something")).toBe("something");
    expect(kernelLabel("void at::native::gemm<float>(int, f(int))")).toBe("gemm<float>");
  });

  it("are cut where the box ends", () => {
    const measure = (text: string) => text.length * 10;
    expect(fitted("abcdef", 60, measure)).toBe("abcdef");
    expect(fitted("abcdef", 59, measure)).toBe("abcd…");
    expect(fitted("abc def", 50, measure)).toBe("abc…");
    expect(fitted("abcdef", 29, measure)).toBe("");
  });
});

/** The custom properties of one theme, as the style sheets have them. */
function theme(dark: boolean): (name: string) => string {
  const values = new Map<string, string>();
  for (const sheet of ["src/ui/theme.css", "src/draw/parts.css"]) {
    const [light = "", rest = ""] = readFileSync(sheet, "utf8").split(':root[data-theme="dark"] {');
    for (const block of [light, ...(dark ? [rest.slice(0, rest.indexOf("}"))] : [])])
      for (const [, name = "", color = ""] of block.matchAll(/(--[\w-]+):\s*(#[0-9a-f]+);/g))
        values.set(name, color);
  }
  return (name) => values.get(name) ?? "";
}

describe("colours", () => {
  it.each([false, true])("let the text be read (dark: %s)", (dark) => {
    const property = theme(dark);
    for (const hue of Object.values(HUES)) expect(property(hue)).toMatch(/^#[0-9a-f]{6}$/);
    const palette = paletteOf(property, "sans");
    const text = parseColor(palette.text);
    for (const kind of KINDS) {
      for (const fill of [...palette.fills[kind], palette.dimmed[kind], palette.hit]) {
        expect(contrast(text, parseColor(fill)), `${kind} ${fill}`).toBeGreaterThan(4.5);
      }
    }
  });

  it("are the same for the same name", () => {
    const palette = paletteOf(theme(false), "sans");
    const names = ["f", "g", "f", "h"];
    const kinds = ["frame", "frame", "frame", "device"] as const;
    const of = (hits: Uint8Array | null) => {
      const { fill, colors } = fillsOf(
        palette,
        4,
        (i) => kinds[i] ?? "other",
        (i) => names[i] ?? "",
        hits,
      );
      return [...fill].map((i) => colors[i]);
    };
    const [f, g, again, h] = of(null);
    expect(again).toBe(f);
    expect(palette.fills.frame).toContain(f);
    expect(palette.fills.frame).toContain(g);
    expect(palette.fills.device).toContain(h);
    const { frame, device } = palette.dimmed;
    expect(of(Uint8Array.from([0, 1, 0, 0]))).toEqual([frame, palette.hit, frame, device]);
    expect(mix([0, 0, 0], [200, 100, 50], 0.5)).toEqual([100, 50, 25]);
    expect(contrast([255, 255, 255], [0, 0, 0])).toBeCloseTo(21);
    expect(contrast([119, 119, 119], [255, 255, 255])).toBeCloseTo(4.48, 2);
    expect(parseColor("red")).toEqual([128, 128, 128]);
    expect(parseColor("#0af")).toEqual([0, 170, 255]);
  });
});

describe("pixels", () => {
  const RED = 0xff0000ff;
  const GREEN = 0xff00ff00;
  const draw = (boxes: Parameters<typeof rasterize>[1], top = 0, ratio = 1) => {
    const [width, height] = [8 * ratio, 6 * ratio];
    const pixels = new Uint32Array(width * height).fill(7);
    const colors = ["#ff0000", "#00ff00"];
    const place = { row: 3, gap: 1, top };
    rasterize({ pixels, width, height, ratio }, boxes, colors, ({ entry }) => entry % 2, place);
    const letter = (pixel: number) =>
      pixel === RED ? "r" : pixel === GREEN ? "g" : pixel ? "?" : ".";
    return Array.from({ length: height }, (_, y) =>
      [...pixels.subarray(y * width, (y + 1) * width)].map(letter).join(""),
    );
  };
  const BOXES = [
    { entry: 0, level: 0, x: 0, width: 8 },
    { entry: 1, level: 1, x: 0, width: 4 },
    { entry: 2, level: 1, x: 4, width: 1.4 },
    { entry: 3, level: 1, x: 5.4, width: 0.6 },
  ];

  it("are filled level by level, with gaps where there is room", () => {
    expect(draw(BOXES)).toEqual([
      "rrrrrrr.",
      "rrrrrrr.",
      "........",
      "ggg.rg..",
      "ggg.rg..",
      "........",
    ]);
  });

  it("are only those that can be seen", () => {
    expect(draw(BOXES, 4)).toEqual([
      "ggg.rg..",
      "........",
      "........",
      "........",
      "........",
      "........",
    ]);
    expect(draw(BOXES, 100).join("")).toMatch(/^\.+$/);
  });

  it("are as fine as the screen", () => {
    const rows = draw(BOXES, 0, 2);
    expect(rows[0]).toBe("rrrrrrrrrrrrrr..");
    expect(rows[3]).toBe(rows[0]);
    expect(rows[4]).toBe("................");
    expect(rows[6]).toBe("gggggg..r..g....");
  });
});

describe("the file", () => {
  it("holds names as text", () => {
    const shapes = boxShapes(
      boxesOf(layout, -1, 400),
      {
        label: (entry) => (entry === 0 ? `<script>"&` : `n${entry}`),
        fill: new Uint8Array(6),
        colors: ["#abcdef"],
      },
      paletteOf(theme(false), "sans"),
      (text) => text.length * 6,
    );
    const svg = svgText(shapes, 400, layout.levels * ROW, THEME);
    expect(svg).toContain('&lt;script&gt;"&amp;');
    expect(svg).not.toContain("<script");
    expect(svg).toContain(`height="${3 * ROW}"`);
    const parsed = new DOMParser().parseFromString(svg, "text/xml");
    expect(parsed.querySelectorAll("rect")).toHaveLength(7);
    expect([...parsed.querySelectorAll("text")].map((text) => text.textContent)).toContain("n5");
  });
});
