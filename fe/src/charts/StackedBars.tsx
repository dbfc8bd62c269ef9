import { useCallback } from "react";
import { seriesColor } from "../draw";
import { value } from "../format";
import { chartsTexts } from "../i18n";
import { Chart } from "./Chart";
import { useHidden } from "./Legend";
import { bucketsOf, totalsOf } from "./merge";
import type { SceneTheme } from "./scene";
import { columnsPicture, columnsPlot } from "./scenes/columns";
import { share, sum, summary } from "./summary";
import type { BarSeries, StackedBarsProps } from "./types";

export function StackedBars(props: StackedBarsProps) {
  const { title, x, times, xLabel = "", details, detailsLabel = "", series, mode, unit } = props;
  const { height = 320, onPick } = props;
  const [hidden, toggle] = useHidden();
  const build = useCallback(
    (theme: SceneTheme, width: number) => {
      const colored = series.map((each, index) => ({ ...each, color: colorOf(each, index) }));
      const drawn = colored.filter(({ key }) => !hidden.has(key));
      const everything = { order: x.map((_, index) => index), flagged: [], series: drawn };
      // A share is one of the whole, whatever is hidden.
      const totals = totalsOf(mode === "percent" ? colored : drawn, x.length);
      const data = {
        buckets: bucketsOf({ ...everything, totals }, { from: 0, to: x.length }, 1),
        colors: drawn.map(({ color }) => color),
        label: ({ from }: { readonly from: number }) => x[from] ?? "",
        times,
        selected: null,
        mode,
        unit,
        xLabel,
      };
      return columnsPicture(data, columnsPlot(width, height), theme);
    },
    [x, times, xLabel, series, mode, unit, height, hidden],
  );

  const totals = totalsOf(series, x.length).map((total) => total ?? 0);
  const parts = series.map(({ label, values }) => ({ label, value: sum(values) }));
  return (
    <Chart
      title={title}
      summary={summary(title, parts, unit, sum(totals))}
      height={height}
      build={build}
      tips={{
        count: x.length,
        content: (i) => ({
          title: `${xLabel ? `${xLabel} ` : ""}${x[i] ?? ""}: ${value(totals[i] ?? 0, unit)}`,
          subtitle: details?.[i],
          lines: series.map((each, s) => ({
            label: each.label,
            value: value(each.values[i] ?? 0, unit),
            share: share(each.values[i] ?? 0, totals[i] ?? 0),
            color: colorOf(each, s),
          })),
        }),
      }}
      onPick={onPick}
      legend={series.map((each, index) => ({
        key: each.key,
        label: each.label,
        color: colorOf(each, index),
        shown: !hidden.has(each.key),
      }))}
      onToggle={toggle}
      texts={details ? 2 : 1}
      head={[
        xLabel,
        ...(details ? [detailsLabel] : []),
        chartsTexts.total,
        ...series.map(({ label }) => label),
      ]}
      rows={x.map((name, i) => ({
        cells: [
          name,
          ...(details ? [details[i] ?? ""] : []),
          value(totals[i], unit),
          ...series.map(({ values }) =>
            mode === "percent" ? share(values[i] ?? 0, totals[i] ?? 0) : value(values[i], unit),
          ),
        ],
        onPick: onPick && (() => onPick(i)),
      }))}
    />
  );
}

function colorOf({ color }: BarSeries, index: number): string {
  return color ?? seriesColor(index);
}
