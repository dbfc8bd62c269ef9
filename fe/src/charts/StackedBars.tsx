import { useCallback } from "react";
import type { ChartTheme } from "../draw";
import { value } from "../format";
import { chartsTexts } from "../i18n";
import { Chart } from "./Chart";
import { columnTotals, stackedBarsOption } from "./options/stackedBars";
import { share, sum, summary } from "./summary";
import type { StackedBarsProps } from "./types";

export function StackedBars(props: StackedBarsProps) {
  const {
    title,
    x,
    xLabel,
    details,
    detailsLabel = "",
    series,
    mode,
    unit,
    height = 320,
    onPick,
  } = props;
  const build = useCallback(
    (theme: ChartTheme) =>
      stackedBarsOption(
        { x, xLabel: xLabel ?? "", details: details ?? [], series, mode, unit },
        theme,
      ),
    [x, xLabel, details, series, mode, unit],
  );
  const pick = useCallback((index: number, key: string) => onPick?.(index, key), [onPick]);

  const totals = columnTotals(x, series);
  const all = sum(totals);
  const parts = series.map(({ label, values }) => ({ label, value: sum(values) }));
  return (
    <Chart
      title={title}
      summary={summary(title, parts, unit, all)}
      height={height}
      build={build}
      onPick={onPick ? pick : undefined}
      texts={details ? 2 : 1}
      head={[
        xLabel ?? "",
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
        onPick: onPick ? () => onPick(i, "") : undefined,
      }))}
    />
  );
}
