import { useCallback } from "react";
import { value } from "../format";
import { t } from "../i18n";
import { Chart } from "./Chart";
import { hbarsHeight, hbarsOption } from "./options/hbars";
import { share, sum, summary } from "./summary";
import type { ChartTheme } from "./theme";
import type { HBarsProps } from "./types";

export function HBars({ title, items, unit, total, height, onPick }: HBarsProps) {
  const build = useCallback(
    (theme: ChartTheme, width: number) =>
      hbarsOption({ items, unit, total: total ?? null }, theme, width),
    [items, unit, total],
  );
  const pick = useCallback(
    (index: number) => {
      const item = items[index];
      if (item) onPick?.(item, index);
    },
    [items, onPick],
  );

  const whole = total ?? sum(items.map((item) => item.value));
  return (
    <Chart
      title={title}
      summary={summary(title, items, unit, whole)}
      height={height ?? hbarsHeight(items.length)}
      build={build}
      onPick={onPick ? pick : undefined}
      head={[title, t.charts.total, t.charts.share]}
      rows={items.map((item, i) => ({
        cells: [item.label, value(item.value, unit), share(item.value, whole)],
        onPick: onPick ? () => onPick(item, i) : undefined,
      }))}
    />
  );
}
