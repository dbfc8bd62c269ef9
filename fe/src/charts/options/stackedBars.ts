import type { ChartTheme } from "../../draw";
import { percent, value } from "../../format";
import type { BarSeries, StackedBarsProps } from "../types";
import { base, type ChartOption, tooltip } from "./parts";

export type StackedBarsData = Pick<
  StackedBarsProps,
  "x" | "xLabel" | "details" | "series" | "mode" | "unit"
>;

/** The sum over all series for each x. */
export function columnTotals(x: readonly string[], series: readonly BarSeries[]): number[] {
  return x.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
}

export function stackedBarsOption(data: StackedBarsData, theme: ChartTheme): ChartOption {
  const { x, xLabel, details, series, mode, unit } = data;
  const totals = columnTotals(x, series);
  const share = (i: number, part: number) => (totals[i] ? (part / (totals[i] ?? 1)) * 100 : 0);
  const colors = series.map(({ color }, s) =>
    color ? theme.resolve(color) : (theme.series[s % theme.series.length] ?? "gray"),
  );
  const axisLine = { lineStyle: { color: theme.line } };

  return {
    ...base(theme),
    grid: {
      left: 8,
      right: 8,
      top: 12,
      bottom: 64,
      outerBoundsMode: "same",
      outerBoundsContain: "axisLabel",
    },
    legend: {
      // Above the buttons of the corner, which a long legend would reach.
      bottom: 14,
      type: "scroll",
      icon: "rect",
      itemWidth: 12,
      itemHeight: 12,
      textStyle: { color: theme.text },
      pageTextStyle: { color: theme.muted },
      pageIconColor: theme.text,
      pageIconInactiveColor: theme.line,
    },
    tooltip: {
      ...tooltip(theme, "axis", (i) => ({
        title: `${xLabel ? `${xLabel} ` : ""}${x[i] ?? ""}: ${value(totals[i] ?? 0, unit)}`,
        subtitle: details?.[i],
        lines: series.map(({ label, values }, s) => {
          const part = values[i] ?? 0;
          return {
            label,
            value: value(part, unit),
            share: percent(share(i, part)),
            color: colors[s] ?? "",
          };
        }),
      })),
      axisPointer: { type: "shadow", shadowStyle: { color: theme.line, opacity: 0.35 } },
    },
    xAxis: {
      type: "category",
      data: [...x],
      name: xLabel ?? "",
      nameLocation: "middle",
      nameGap: 26,
      nameTextStyle: { color: theme.muted },
      axisLabel: { color: theme.muted, hideOverlap: true },
      axisTick: { show: false },
      axisLine,
    },
    yAxis: {
      type: "value",
      ...(mode === "percent" ? { max: 100 } : {}),
      axisLabel: {
        color: theme.muted,
        formatter: (tick: number) =>
          mode === "percent" ? `${tick} %` : tick === 0 ? "0" : value(tick, unit),
      },
      splitLine: { lineStyle: { color: theme.line, opacity: 0.6 } },
    },
    series: series.map(({ key, label, values }, s) => ({
      type: "bar",
      id: key,
      name: label,
      stack: "all",
      barMaxWidth: 56,
      barCategoryGap: "28%",
      cursor: "pointer",
      itemStyle: { color: colors[s] ?? "gray" },
      data: mode === "percent" ? values.map((part, i) => share(i, part)) : [...values],
    })),
  };
}
