import { useCallback } from "react";
import type { ChartTheme } from "../draw";
import { value } from "../format";
import { chartsTexts } from "../i18n";
import { Chart } from "./Chart";
import { donutOption } from "./options/donut";
import { share, sum, summary } from "./summary";
import type { DonutProps } from "./types";

export function Donut({
  title,
  slices,
  unit,
  height = Math.min(300, Math.max(220, slices.length * 24 + 16)),
  legend = true,
  onPick,
}: DonutProps) {
  const build = useCallback(
    (theme: ChartTheme, width: number) => donutOption({ slices, unit, legend }, theme, width),
    [slices, unit, legend],
  );
  const pick = useCallback(
    (index: number) => {
      if (!slices[index]?.rest) onPick?.(index);
    },
    [slices, onPick],
  );

  const total = sum(slices.map((slice) => slice.value));
  return (
    <Chart
      title={title}
      summary={summary(title, slices, unit, total)}
      height={height}
      build={build}
      onPick={onPick ? pick : undefined}
      head={[title, chartsTexts.total, chartsTexts.share]}
      rows={slices.map((slice, i) => ({
        cells: [slice.label, value(slice.value, unit), share(slice.value, total)],
        onPick: onPick && !slice.rest ? () => onPick(i) : undefined,
      }))}
    />
  );
}
