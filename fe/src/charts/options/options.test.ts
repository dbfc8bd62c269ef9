import { describe, expect, it } from "vitest";
import { type ChartTheme, tooltipNode } from "../../draw";
import type { HBarItem } from "../types";
import { donutOption } from "./donut";
import { hbarsOption } from "./hbars";
import { plainText, shorten } from "./parts";
import { columnTotals, stackedBarsOption } from "./stackedBars";

const theme: ChartTheme = {
  text: "#000",
  muted: "#555",
  line: "#ccc",
  surface: "#fff",
  font: "sans-serif",
  series: ["#111111", "#222222"],
  patterns: false,
  resolve: (color) => (color === "var(--cat-kernel)" ? "#0072b2" : color),
};

/** The parts of an option that are looked at; its own type is a union of everything ECharts knows. */
interface Drawn {
  series: { data: number[]; itemStyle: { color: string } }[];
  tooltip: { formatter: (params: unknown) => HTMLElement };
  yAxis: { axisLabel: { formatter: (text: string) => string } };
  legend: { formatter: (text: string) => string };
}
const drawn = (option: unknown) => option as Drawn;
const NASTY = "<img src=x onerror=alert(1)>{a|b}";

describe("stackedBarsOption", () => {
  const data = {
    x: ["1", "2"],
    series: [
      { key: "kernel", label: "Kernel", values: [30, 10], color: "var(--cat-kernel)" },
      { key: "other", label: NASTY, values: [10, 0] },
    ],
    unit: "ns" as const,
  };

  it("keeps values, or scales each column to 100", () => {
    const values = (mode: "absolute" | "percent") =>
      drawn(stackedBarsOption({ ...data, mode }, theme)).series.map((s) => s.data);
    expect(columnTotals(data.x, data.series)).toEqual([40, 10]);
    expect(values("absolute")).toEqual([
      [30, 10],
      [10, 0],
    ]);
    expect(values("percent")).toEqual([
      [75, 100],
      [25, 0],
    ]);
  });

  it("resolves colours and numbers the others", () => {
    const series = drawn(stackedBarsOption({ ...data, mode: "absolute" }, theme)).series;
    expect(series.map((s) => s.itemStyle.color)).toEqual(["#0072b2", "#222222"]);
  });

  it("shows names as text", () => {
    const { tooltip } = drawn(stackedBarsOption({ ...data, mode: "absolute" }, theme));
    const node = tooltip.formatter({ dataIndex: 0 });
    expect(node.querySelector("img")).toBeNull();
    expect(node.textContent).toContain(NASTY);
    expect(node.textContent).toContain("75.0 %");
  });
});

describe("bars of a comparison", () => {
  const bars = (...items: HBarItem[]) => drawn(hbarsOption({ items, unit: "ns" }, theme, 900));

  it("have an outline each, as long as they were before", () => {
    const { series, tooltip } = bars({ label: "a", value: 5, before: 8 }, { label: "b", value: 1 });
    expect(series).toHaveLength(2);
    expect(series[1]?.data).toEqual([8, 0]);
    const said = tooltip.formatter({ dataIndex: 0 }).textContent;
    expect(said).toMatch(/Baseline.*8 ns.*Change.*−3 ns/);
    expect(tooltip.formatter({ dataIndex: 1 }).textContent).not.toContain("Baseline");
  });

  it("have none without a baseline", () => {
    expect(bars({ label: "a", value: 5 }).series).toHaveLength(1);
  });
});

describe("labels", () => {
  it("are inert in bars and donuts", () => {
    const bars = drawn(
      hbarsOption({ items: [{ label: "{a|b}", value: 1 }], unit: "ns" }, theme, 900),
    );
    const axis = bars.yAxis.axisLabel.formatter;
    expect(axis("0")).not.toContain("{a|");
    const donut = drawn(
      donutOption({ slices: [{ label: "{a|b}", value: 1 }], unit: "ns" }, theme, 900),
    );
    const legend = donut.legend.formatter;
    expect(legend("0")).toMatch(/^100.0 % {2}/);
    expect(legend("0")).not.toContain("{a|");
    expect(plainText("a{b|c}")).toBe("a{\u200bb|c}");
  });

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
});

it("builds tooltips of text nodes", () => {
  const node = tooltipNode({ title: NASTY, lines: [{ label: NASTY, value: "1", color: "red" }] });
  expect(node.querySelectorAll("img")).toHaveLength(0);
  expect(node.textContent).toBe(`${NASTY}${NASTY}1`);
});
