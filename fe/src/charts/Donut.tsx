import { useCallback, useMemo } from "react";
import { seriesColor } from "../draw";
import { value } from "../format";
import { chartsTexts } from "../i18n";
import { Chart } from "./Chart";
import { useHidden } from "./Legend";
import type { SceneTheme } from "./scene";
import { donutPicture } from "./scenes/donut";
import { share, sum, summary } from "./summary";
import type { DonutProps, Slice } from "./types";

export function Donut({
  title,
  slices,
  unit,
  height = Math.min(300, Math.max(220, slices.length * 24 + 16)),
  legend = true,
  onPick,
}: DonutProps) {
  const [hidden, toggle] = useHidden();
  const total = sum(slices.map((slice) => slice.value));
  const sectors = useMemo(
    () =>
      slices.map((slice, index) => ({
        value: hidden.has(String(index)) ? 0 : slice.value,
        color: slice.color ?? seriesColor(index),
      })),
    [slices, hidden],
  );
  const build = useCallback(
    (theme: SceneTheme, width: number) => donutPicture(sectors, theme, width, height),
    [sectors, height],
  );
  return (
    <Chart
      title={title}
      summary={summary(title, slices, unit, total)}
      height={height}
      build={build}
      tips={{
        count: slices.length,
        content: (index) => {
          const slice: Slice = slices[index] ?? { label: "", value: 0 };
          const { label, title: whole, value: part } = slice;
          const line = { label: "", value: value(part, unit), share: share(part, total) };
          return { title: whole ?? label, lines: [line] };
        },
      }}
      onPick={
        onPick &&
        ((index) => {
          if (!slices[index]?.rest) onPick(index);
        })
      }
      // Slices are named by their position: two of them may carry the same label.
      legend={
        legend
          ? slices.map((slice, index) => ({
              key: String(index),
              label: slice.label,
              share: share(slice.value, total),
              color: sectors[index]?.color ?? "",
              shown: !hidden.has(String(index)),
            }))
          : []
      }
      legendAt={legend ? "beside" : "below"}
      onToggle={toggle}
      head={[title, chartsTexts.total, chartsTexts.share]}
      rows={slices.map((slice, i) => ({
        cells: [slice.title ?? slice.label, value(slice.value, unit), share(slice.value, total)],
        onPick: onPick && !slice.rest ? () => onPick(i) : undefined,
      }))}
    />
  );
}
