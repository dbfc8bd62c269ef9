import { useCallback } from "react";
import type { ChartTheme } from "../draw";
import { change, percentChange, value } from "../format";
import { Chart } from "./Chart";
import { PAIRED_HEIGHT, pairedBarsOption, runningSums } from "./options/pairedBars";
import type { PairedBarsProps } from "./types";

/** Two sides of each item, their running sums, and below it what differs, one by one and accumulated. */
export function PairedBars(props: PairedBarsProps) {
  const { title, summary, items, start, names, unit, itemLabel, onPick } = props;
  const build = useCallback(
    (theme: ChartTheme, width: number) =>
      pairedBarsOption({ items, start, names, unit }, theme, width),
    [items, start, names, unit],
  );
  const sums = runningSums(items, start);
  return (
    <Chart
      title={title}
      summary={summary}
      height={PAIRED_HEIGHT}
      build={build}
      onPick={onPick}
      head={[
        itemLabel,
        names.before,
        names.after,
        names.difference,
        names.differencePercent,
        names.accumulated,
      ]}
      rows={items.map(({ label, before, after }, index) => ({
        cells: [
          label,
          value(before, unit),
          value(after, unit),
          change(after - before, unit),
          change(percentChange(before, after), "percent"),
          change((sums[index]?.after ?? 0) - (sums[index]?.before ?? 0), unit),
        ],
        onPick: onPick ? () => onPick(index) : undefined,
      }))}
    />
  );
}
