import { useCallback } from "react";
import { change, value } from "../format";
import { chartsTexts } from "../i18n";
import { Chart } from "./Chart";
import type { SceneTheme } from "./scene";
import { hbarsHeight, hbarsPicture } from "./scenes/hbars";
import { share, sum, summary } from "./summary";
import type { HBarItem, HBarsProps } from "./types";

export function HBars({ title, items, unit, total, height, onPick }: HBarsProps) {
  const build = useCallback(
    (theme: SceneTheme, width: number) => hbarsPicture({ items, unit }, theme, width),
    [items, unit],
  );
  const all = total ?? sum(items.map((item) => item.value));
  const compared = items.some(({ before }) => before !== undefined);
  const beside = ({ value: now, before }: HBarItem) =>
    before === undefined ? ["", ""] : [value(before, unit), change(now - before, unit)];
  const tipOf = (index: number) => {
    const item: HBarItem = items[index] ?? { label: "", value: 0 };
    const { label, title: whole, value: now, before } = item;
    const lines = [
      { label: "", value: value(now, unit), share: total ? share(now, total) : "" },
      ...(before === undefined
        ? []
        : [
            { label: chartsTexts.before, value: value(before, unit) },
            { label: chartsTexts.change, value: change(now - before, unit) },
          ]),
    ];
    return { title: whole ?? label, lines };
  };
  const chart = (
    <Chart
      title={title}
      summary={summary(title, items, unit, all)}
      height={height ?? hbarsHeight(items.length)}
      build={build}
      tips={{ count: items.length, content: tipOf }}
      onPick={
        onPick &&
        ((index) => {
          const item = items[index];
          if (item) onPick(item, index);
        })
      }
      head={[
        title,
        chartsTexts.total,
        chartsTexts.share,
        ...(compared ? [chartsTexts.before, chartsTexts.change] : []),
      ]}
      rows={items.map((item, i) => ({
        cells: [
          item.title ?? item.label,
          value(item.value, unit),
          share(item.value, all),
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
