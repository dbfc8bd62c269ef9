import { useCallback } from "react";
import type { ChartTheme } from "../draw";
import { change, value } from "../format";
import { chartsTexts } from "../i18n";
import { Chart } from "./Chart";
import { hbarsHeight, hbarsOption } from "./options/hbars";
import { share, sum, summary } from "./summary";
import type { HBarItem, HBarsProps } from "./types";

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
  const compared = items.some(({ before }) => before !== undefined);
  const beside = ({ value: now, before }: HBarItem) =>
    before === undefined ? ["", ""] : [value(before, unit), change(now - before, unit)];
  const chart = (
    <Chart
      title={title}
      summary={summary(title, items, unit, whole)}
      height={height ?? hbarsHeight(items.length)}
      build={build}
      onPick={onPick ? pick : undefined}
      head={[
        title,
        chartsTexts.total,
        chartsTexts.share,
        ...(compared ? [chartsTexts.before, chartsTexts.change] : []),
      ]}
      rows={items.map((item, i) => ({
        cells: [
          item.label,
          value(item.value, unit),
          share(item.value, whole),
          ...(compared ? beside(item) : []),
        ],
        onPick: onPick ? () => onPick(item, i) : undefined,
      }))}
    />
  );
  if (!compared) return chart;
  return (
    <>
      {chart}
      <p className="chart-note">{chartsTexts.ghosts}</p>
    </>
  );
}
