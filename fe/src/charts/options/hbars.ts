import { percent, value } from "../../format";
import type { ChartTheme } from "../theme";
import type { HBarsProps } from "../types";
import { base, type ChartOption, plainText, shorten, tooltip } from "./parts";

export type HBarsData = Pick<HBarsProps, "items" | "unit" | "total">;

const ROW = 24;

export function hbarsHeight(items: number): number {
  return Math.max(1, items) * ROW + 16;
}

export function hbarsOption(
  { items, unit, total }: HBarsData,
  theme: ChartTheme,
  width: number,
): ChartOption {
  const names = Math.round(Math.min(320, width * 0.46));
  const characters = Math.floor(names / 7.3);
  const at = (index: number) => items[index] ?? { label: "", value: 0 };

  return {
    ...base(theme),
    grid: { left: names + 8, right: 84, top: 4, bottom: 8, outerBoundsMode: "none" },
    tooltip: tooltip(theme, "item", (index) => {
      const item = at(index);
      const share = total ? percent((item.value / total) * 100) : "";
      return { title: item.label, lines: [{ label: "", value: value(item.value, unit), share }] };
    }),
    xAxis: { type: "value", show: false, min: 0 },
    yAxis: {
      type: "category",
      inverse: true,
      // Positions, not labels: two bars may carry the same label.
      data: items.map((_, index) => String(index)),
      axisLabel: {
        color: theme.text,
        width: names,
        overflow: "truncate",
        interval: 0,
        formatter: (position: string) => plainText(shorten(at(Number(position)).label, characters)),
      },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: theme.line } },
      triggerEvent: true,
    },
    series: [
      {
        type: "bar",
        barWidth: "64%",
        barMinHeight: 1,
        cursor: "pointer",
        label: {
          show: true,
          position: "right",
          color: theme.text,
          formatter: ({ dataIndex }) => value(at(dataIndex).value, unit),
        },
        data: items.map(({ value: part, color }) => ({
          value: part,
          itemStyle: { color: color ? theme.resolve(color) : (theme.series[0] ?? "gray") },
        })),
      },
    ],
  };
}
