import type { BarSeriesOption } from "echarts/charts";
import type { ChartTheme } from "../../draw";
import { change, percent, value } from "../../format";
import { chartsTexts } from "../../i18n";
import type { HBarItem, HBarsProps } from "../types";
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
  const at = (index: number): HBarItem => items[index] ?? { label: "", value: 0 };

  return {
    ...base(theme),
    grid: { left: names + 8, right: 84, top: 4, bottom: 8, outerBoundsMode: "none" },
    tooltip: tooltip(theme, "item", (index) => {
      const item = at(index);
      const share = total ? percent((item.value / total) * 100) : "";
      const lines = [{ label: "", value: value(item.value, unit), share }];
      if (item.before !== undefined) {
        lines.push(
          { label: chartsTexts.before, value: value(item.before, unit), share: "" },
          { label: chartsTexts.change, value: change(item.value - item.before, unit), share: "" },
        );
      }
      return { title: item.label, lines };
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
      ...(items.some(({ before }) => before !== undefined) ? [ghosts(items, theme)] : []),
    ],
  };
}

/** Outlines over the bars, as long as these were in the baseline. */
function ghosts(items: readonly HBarItem[], theme: ChartTheme): BarSeriesOption {
  return {
    type: "bar",
    barWidth: "64%",
    barGap: "-100%",
    silent: true,
    z: 3,
    itemStyle: {
      color: "transparent",
      borderColor: theme.text,
      borderWidth: 1,
      borderType: "dashed",
    },
    data: items.map(({ before }) => before ?? 0),
  };
}
