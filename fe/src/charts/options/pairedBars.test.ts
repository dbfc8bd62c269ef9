import { expect, it } from "vitest";
import type { ChartTheme } from "../../draw";
import { pairedBarsOption, runningSums } from "./pairedBars";

const theme: ChartTheme = {
  text: "#000",
  muted: "#555",
  line: "#ccc",
  surface: "#fff",
  font: "sans-serif",
  series: ["#111111"],
  patterns: false,
  resolve: (color) => color,
};
const NASTY = "<img src=x onerror=alert(1)>{a|b}";
const ITEMS = [
  { label: "loader", before: 100, after: 10 },
  { label: NASTY, details: NASTY, before: 0, after: 30 },
];
const NAMES = {
  before: "Baseline",
  after: "Experiment",
  beforeSum: "Σ Baseline",
  afterSum: "Σ Experiment",
  difference: "Difference",
  differencePercent: "Difference %",
  accumulated: "Accumulated",
};

interface Drawn {
  series: { id: string; data: (number | { value: number; itemStyle: { color: string } })[] }[];
  tooltip: { formatter: (params: unknown) => HTMLElement };
  grid: { top: number; height: number }[];
  xAxis: {
    axisLabel: { formatter: (text: string) => string; rotate: number; width?: number };
  }[];
  legend: { data: string[] };
}
const draw = (width = 900, start?: { before: number; after: number }) =>
  pairedBarsOption(
    { items: ITEMS, start, names: NAMES, unit: "ns" },
    theme,
    width,
  ) as unknown as Drawn;
const series = (drawn: Drawn, id: string) => drawn.series.find((each) => each.id === id)?.data;

it("adds up from the left, also when it is not the beginning", () => {
  expect(runningSums(ITEMS)).toEqual([
    { before: 100, after: 10 },
    { before: 100, after: 40 },
  ]);
  expect(series(draw(), "accumulated")).toEqual([-90, -60]);
  expect(series(draw(900, { before: 5, after: 1000 }), "accumulated")).toEqual([905, 935]);
  expect(series(draw(), "difference")).toMatchObject([
    { value: -90, itemStyle: { color: "var(--good)" } },
    { value: 30, itemStyle: { color: "var(--danger)" } },
  ]);
});

it("shows names as text, and nothing infinite", () => {
  const node = draw().tooltip.formatter({ dataIndex: 1 });
  expect(node.querySelector("img")).toBeNull();
  expect(node.textContent).toContain(NASTY);
  expect(node.textContent).toContain("+30 ns");
  expect(node.textContent).not.toMatch(/Infinity|NaN/);
  expect(draw().tooltip.formatter({ dataIndex: 0 }).textContent).toContain("−90.0 %");
});

it("turns labels where there is little room, and takes no markup in them", () => {
  const label = (width: number) => draw(width).xAxis[1]?.axisLabel;
  expect(label(900)?.rotate).toBe(0);
  expect(label(200)?.rotate).toBeGreaterThan(0);
  expect(label(200)?.formatter("1")).toBe("<img src=x one…");
  expect(label(200)?.width).toBeUndefined();
  expect(label(900)?.formatter("1")).not.toContain("{a|");
  expect(label(900)?.formatter("0")).toBe("loader");
  // Two labels side by side never touch.
  expect(label(900)?.width).toBeLessThan((900 - 78 - 76) / ITEMS.length);
});

it("gives the room of turned labels to the upper picture where they stand upright", () => {
  const [wide, narrow] = [draw(900).grid, draw(200).grid];
  expect(wide[0]?.height).toBeGreaterThan(narrow[0]?.height ?? 0);
  for (const [upper, lower] of [wide, narrow])
    expect((upper?.top ?? 0) + (upper?.height ?? 0)).toBeLessThan(lower?.top ?? 0);
});

it("keeps what is only there to be clicked out of the legend", () => {
  const drawn = draw();
  expect(drawn.series.map(({ id }) => id)).toEqual(expect.arrayContaining(["upper", "lower"]));
  expect(drawn.legend.data).toHaveLength(6);
});
