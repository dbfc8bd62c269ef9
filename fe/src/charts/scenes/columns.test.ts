import { describe, expect, it } from "vitest";
import { amountAxis, centerOf, columnAt, niceTicks } from "../axes";
import {
  bucketSize,
  bucketsOf,
  type ColumnSeries,
  largestFirst,
  MIN_PITCH,
  totalsOf,
} from "../merge";
import { svgText } from "../save";
import type { Shape } from "../scene";
import {
  clampRange,
  moveRange,
  openRange,
  RANGE,
  rangeWithin,
  zoomRange,
} from "../stackedColumns/range";
import { THEME } from "../testTheme";
import { columnsPicture, columnsPlot, columnsScene } from "./columns";

const SERIES: ColumnSeries[] = [
  { key: "a", label: "A", color: "red", values: [1, 2, 3, null, 5] },
  { key: "b", label: "B", color: "blue", values: [10, 20, 30, null, 50] },
];
const TOTALS = totalsOf(SERIES, 5);
const ORDER = [0, 1, 2, 3, 4];

describe("merging", () => {
  it("sums what an item has", () => {
    expect(TOTALS).toEqual([11, 22, 33, null, 55]);
  });

  it("gives each item a column of its own where there is room", () => {
    expect(bucketSize(250, 1000)).toBe(1);
    expect(bucketSize(251, 1000)).toBe(2);
    expect(bucketSize(10_000, 1000)).toBe(40);
    expect(bucketSize(0, 0)).toBe(1);
    for (const width of [300, 1000, 1913]) {
      for (const items of [1, 7, 1024, 10_000]) {
        const columns = Math.ceil(items / bucketSize(items, width));
        expect(columns * MIN_PITCH).toBeLessThanOrEqual(width);
      }
    }
  });

  it("keeps mean, extremes and flags, and leaves out what was not recorded", () => {
    const flagged = [false, true, false, true, false];
    const buckets = bucketsOf(
      { order: ORDER, series: SERIES, totals: TOTALS, flagged },
      { from: 0, to: 5 },
      2,
    );
    expect(buckets).toEqual([
      { from: 0, to: 2, items: 2, mean: 16.5, min: 11, max: 22, parts: [1.5, 15], flagged: 1 },
      { from: 2, to: 4, items: 1, mean: 33, min: 33, max: 33, parts: [3, 30], flagged: 1 },
      { from: 4, to: 5, items: 1, mean: 55, min: 55, max: 55, parts: [5, 50], flagged: 0 },
    ]);
  });

  it("loses no time: the columns together are the items together", () => {
    const values = Array.from(
      { length: 10_007 },
      (_, i) => 100 + (i % 13) + (i === 5003 ? 1e6 : 0),
    );
    const series = [{ key: "t", label: "T", color: "red", values }];
    const totals = totalsOf(series, values.length);
    const order = largestFirst(totals);
    const buckets = bucketsOf(
      { order, series, totals, flagged: [] },
      { from: 0, to: order.length },
      41,
    );
    const sum = buckets.reduce((all, { mean, items }) => all + mean * items, 0);
    expect(sum).toBeCloseTo(
      values.reduce((all, value) => all + value, 0),
      3,
    );
    expect(Math.max(...buckets.map(({ max }) => max))).toBe(Math.max(...values));
  });

  it("orders by value, missing ones last", () => {
    expect(largestFirst(TOTALS)).toEqual([4, 2, 1, 0, 3]);
    expect(largestFirst([5, 5, 7])).toEqual([2, 0, 1]);
  });
});

describe("ranges", () => {
  it("stays within the items, and everything is no range", () => {
    expect(clampRange({ from: -5, to: 3 }, 10)).toEqual({ from: 0, to: 8 });
    expect(clampRange({ from: 8, to: 12 }, 10)).toEqual({ from: 6, to: 10 });
    expect(clampRange({ from: 3, to: 3 }, 10)).toEqual({ from: 3, to: 4 });
    expect(clampRange({ from: 0, to: 10 }, 10)).toBeNull();
    expect(clampRange({ from: 0, to: 99 }, 10)).toBeNull();
  });

  it("zooms around a place, back out to everything, and not into nothing", () => {
    const half = zoomRange(null, 100, 50, 0.5);
    expect(half).toEqual({ from: 25, to: 75 });
    expect(zoomRange(half, 100, 50, 2)).toBeNull();
    expect(zoomRange({ from: 10, to: 15 }, 100, 12, 0.5)).toEqual({ from: 10, to: 15 });
    expect(zoomRange(null, 3, 1, 0.5)).toBeNull();
  });

  it("moves, and opens a merged column with some around it", () => {
    expect(moveRange({ from: 0, to: 10 }, 100, -5)).toEqual({ from: 0, to: 10 });
    expect(moveRange({ from: 0, to: 10 }, 100, 5)).toEqual({ from: 5, to: 15 });
    expect(moveRange(null, 100, 5)).toBeNull();
    expect(openRange({ from: 50, to: 54 }, 1000)).toEqual({ from: 42, to: 62 });
    expect(openRange({ from: 50, to: 90 }, 1000)).toEqual({ from: 50, to: 90 });
  });

  it("reads back what it writes, and nothing else", () => {
    const read = (text: string) => rangeWithin(RANGE.parse(text), 100);
    const range = { from: 12, to: 40 };
    expect(read(RANGE.format(range))).toEqual(range);
    for (const text of ["", "5", "9-3", "3-3", "a-b", "100-120", "-1-5"])
      expect(read(text)).toBeNull();
    expect(read("90-300")).toBeNull();
    expect(read("90-150")).toEqual({ from: 40, to: 100 });
  });
});

describe("the scale", () => {
  it.each([
    [100, [0, 20, 40, 60, 80, 100]],
    [20.03, [0, 5, 10, 15, 20, 25]],
    [10.1, [0, 2.5, 5, 7.5, 10, 12.5]],
    [0.7, [0, 0.2, 0.4, 0.6, 0.8]],
    [0, [0]],
  ])("up to %d has ticks %j", (max, ticks) => expect(niceTicks(max)).toEqual(ticks));

  it("goes below 0 as far as it must", () => {
    expect(niceTicks(30, 3, -90)).toEqual([-100, -50, 0, 50]);
    expect(niceTicks(0, 3, -60)).toEqual([-60, -40, -20, 0]);
  });

  it("is round in the unit that is read: bytes in powers of 1024", () => {
    const labels = (...of: Parameters<typeof amountAxis>) => {
      const { ticks, label } = amountAxis(...of);
      return ticks.map(label);
    };
    expect(labels("bytes", 5.588 * 1024 ** 3)).toEqual(["0", "2 GiB", "4 GiB", "6 GiB"]);
    expect(labels("bytes", 10, 3, -3 * 1024 ** 2)).toEqual(["−4 MiB", "−2 MiB", "0", "2 MiB"]);
    expect(labels("ns", 20_030_000)).toEqual(["0", "5 ms", "10 ms", "15 ms", "20 ms", "25 ms"]);
    expect(amountAxis("bytes", 0).ticks).toEqual([0]);
  });
});

function scene(
  width: number,
  names: readonly string[],
  more: Partial<Parameters<typeof columnsScene>[0]> = {},
) {
  const series = [
    { key: "a", label: "A", color: "red", values: names.map((_, i) => 10 + i) },
    { key: "b", label: "B", color: "blue", values: names.map(() => 10) },
  ];
  const totals = totalsOf(series, names.length);
  const plot = columnsPlot(width, 300);
  const order = names.map((_, i) => i);
  const size = bucketSize(names.length, plot.width);
  const flagged = names.map((_, i) => i === 1);
  const buckets = bucketsOf(
    { order, series, totals, flagged },
    { from: 0, to: names.length },
    size,
  );
  const data = {
    buckets,
    colors: ["red", "blue"],
    mode: "absolute" as const,
    unit: "count" as const,
    label: ({ from }: { from: number }) => names[from] ?? "",
    selected: null,
    xLabel: "Step",
    ...more,
  };
  return { shapes: columnsScene(data, plot, THEME), plot, buckets };
}

const texts = (shapes: readonly Shape[]) => shapes.filter((shape) => shape.kind === "text");

describe("the scene", () => {
  it("stacks the parts from the bottom to the total", () => {
    const { shapes, plot } = scene(800, ["x", "y"]);
    const rects = shapes.filter((shape) => shape.kind === "rect");
    expect(rects.map(({ fill }) => fill)).toEqual(["red", "blue", "red", "blue"]);
    const [red, blue] = rects as [(typeof rects)[0], (typeof rects)[0]];
    expect(red.y + red.height).toBeCloseTo(plot.y + plot.height);
    expect(blue.y + blue.height).toBeCloseTo(red.y);
    expect(red.height).toBeCloseTo(blue.height);
    expect(shapes.filter(({ kind }) => kind === "flag")).toHaveLength(1);
  });

  it("fills the height in percent", () => {
    const { shapes, plot } = scene(800, ["x"], { mode: "percent" });
    const heights = shapes.flatMap((shape) => (shape.kind === "rect" ? [shape.height] : []));
    expect(heights.reduce((sum, height) => sum + height, 0)).toBeCloseTo(plot.height);
  });

  it.each([4, 64, 1024, 10_000])("writes no labels over each other with %d items", (items) => {
    const names = Array.from({ length: items }, (_, i) => `worker-${i}.of.a.long.name`);
    const { shapes, plot } = scene(560, names);
    const places = texts(shapes)
      .filter(({ text }) => text.startsWith("…"))
      .map(({ x }) => x);
    expect(places.length).toBeGreaterThan(0);
    for (const [i, x] of places.entries()) {
      if (i > 0) expect(x - (places[i - 1] as number)).toBeGreaterThanOrEqual(100);
    }
    // 16 characters; beyond the plot there is a margin of ten pixels.
    expect((places.at(-1) ?? 0) + (16 * 6.6) / 2).toBeLessThanOrEqual(plot.x + plot.width + 10);
  });

  it("draws a bounded number of shapes for any number of items", () => {
    const names = Array.from({ length: 10_000 }, (_, i) => String(i));
    expect(scene(1200, names).shapes.length).toBeLessThan(2000);
  });

  it("finds the column under a place", () => {
    const { plot, buckets } = scene(800, ["x", "y", "z"]);
    for (let i = 0; i < 3; i++)
      expect(columnAt(plot, buckets.length, centerOf(plot, buckets.length, i))).toBe(i);
    expect(columnAt(plot, buckets.length, plot.x - 1)).toBeNull();
    expect(columnAt(plot, buckets.length, plot.x + plot.width + 1)).toBeNull();
  });

  it("takes pointer and keys to every column", () => {
    const { plot, buckets } = scene(800, ["x", "y", "z"]);
    const label = () => "";
    const data = {
      colors: [],
      mode: "absolute",
      unit: "count",
      xLabel: "",
      selected: null,
    } as const;
    const picture = columnsPicture({ ...data, buckets, label }, plot, THEME);
    expect(picture.marks.map((mark) => picture.at(mark?.x ?? -1, 0))).toEqual([0, 1, 2]);
    expect(picture.at(plot.x - 1, 50)).toBeNull();
  });

  it("hatches each part in its own way for those who ask for more contrast", () => {
    const rects = (theme: typeof THEME) => {
      const { plot, buckets } = scene(800, ["x"]);
      const data = { colors: ["red", "blue"], mode: "absolute", unit: "count" } as const;
      const more = { label: () => "", selected: null, xLabel: "" };
      const shapes = columnsScene({ ...data, ...more, buckets }, plot, theme);
      return { shapes, hatches: shapes.flatMap((s) => (s.kind === "rect" ? [s.hatch] : [])) };
    };
    expect(rects(THEME).hatches).toEqual([undefined, undefined]);
    const { shapes, hatches } = rects({ ...THEME, patterns: true });
    expect(hatches).toEqual([0, 1]);
    const svg = svgText(shapes, 800, 300, THEME);
    expect(svg).toContain('id="hatch0"');
    expect(svg).toContain("url(#hatch1)");
  });

  describe("of moments", () => {
    const MS = 1e6;
    const ticks = (width: number, times: readonly number[]) => {
      const names = times.map((time) => `${time / MS} ms`);
      const { shapes, plot } = scene(width, names, { times });
      const below = texts(shapes).filter(({ text }) => / (ns|µs|ms|s)$/.test(text));
      const center = (index: number) => centerOf(plot, times.length, index);
      return {
        labels: below.map(({ text }) => text),
        places: below.map(({ x }) => x),
        center,
        plot,
      };
    };

    it("has round times at their places, not those of some columns", () => {
      const times = Array.from({ length: 120 }, (_, i) => i * 0.3274 * MS);
      const { labels, places, center } = ticks(1000, times);
      expect(labels).toEqual([
        "0 ms",
        "5 ms",
        "10 ms",
        "15 ms",
        "20 ms",
        "25 ms",
        "30 ms",
        "35 ms",
      ]);
      for (const [i, place] of places.entries()) {
        const column = (i * 5) / 0.3274;
        const [before, after] = [center(Math.floor(column)), center(Math.ceil(column))];
        expect(place).toBeCloseTo(before + (column % 1) * (after - before), 1);
      }
    });

    it("keeps times at their columns where these are not equally far apart", () => {
      const times = [0, 1, 2, 3, 10, 17, 18, 19, 20].map((time) => time * MS);
      const { labels, places, center } = ticks(900, times);
      expect(labels).toEqual(["0 ms", "5 ms", "10 ms", "15 ms", "20 ms"]);
      expect(places[0]).toBeCloseTo(center(0), 1);
      expect(places[1]).toBeCloseTo(center(3) + (2 / 7) * (center(4) - center(3)), 1);
      expect(places[2]).toBeCloseTo(center(4), 1);
    });

    it.each([240, 500, 1913])(
      "writes none over another or out of a picture of %d pixels",
      (wide) => {
        const times = [0, 1, 2, 3, 4, 4.99, 5, 60, 97.2, 98, 99, 100].map((time) => time * MS);
        const { labels, places, plot } = ticks(wide, times);
        expect(labels.length).toBeGreaterThan(1);
        const half = (i: number) => ((labels[i] ?? "").length * 6.6) / 2;
        for (const [i, place] of places.entries()) {
          const before = places[i - 1];
          if (before !== undefined)
            expect(place - half(i)).toBeGreaterThanOrEqual(before + half(i - 1) + 8);
          expect(place + half(i)).toBeLessThanOrEqual(plot.x + plot.width + 8);
        }
      },
    );

    it("names the one moment there is", () => {
      expect(ticks(500, [3.274 * MS]).labels).toEqual(["3.274 ms"]);
    });
  });

  it("writes names into an SVG file as text", () => {
    const { shapes } = scene(800, ["<script>x</script>"]);
    const svg = svgText(shapes, 800, 300, THEME);
    expect(svg).not.toContain("<script>");
    expect(svg).toContain("script");
    expect(svg.startsWith("<svg")).toBe(true);
  });
});
