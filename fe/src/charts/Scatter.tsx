import { useCallback, useMemo } from "react";
import type { TooltipContent } from "../draw";
import { Chart } from "./Chart";
import type { ChartRow } from "./ChartTable";
import { useHidden } from "./Legend";
import type { SceneTheme } from "./scene";
import { scatterPicture } from "./scenes/scatter";
import type { ScatterData } from "./types";

interface Props extends ScatterData {
  readonly title: string;
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly height?: number;
  /** Of a point: position of its series, and in it. */
  readonly tip: (series: number, point: number) => TooltipContent;
  /** The same numbers as a table: how many of its first columns are text. */
  readonly head: readonly string[];
  readonly texts: number;
  readonly rows: () => readonly ChartRow[];
  /** What a click on a point does. */
  readonly onPick?: (series: number, point: number) => void;
}

/** Points and curves on logarithmic axes; the legend hides series. `series` must keep its identity. */
export function Scatter(props: Props) {
  const { series, xUnit, yUnit, xLabel, yLabel, height = 280, tip, onPick, ...others } = props;
  const [off, toggle] = useHidden();
  const shown = useMemo(
    () => series.map((each) => ({ ...each, hidden: off.has(each.key) })),
    [series, off],
  );
  const places = useMemo(
    () => series.flatMap(({ points }, at) => points.map((_, point) => [at, point] as const)),
    [series],
  );
  const build = useCallback(
    (theme: SceneTheme, width: number) =>
      scatterPicture({ series: shown, xUnit, yUnit, xLabel, yLabel }, theme, width, height),
    [shown, xUnit, yUnit, xLabel, yLabel, height],
  );
  return (
    <Chart
      {...others}
      height={height}
      build={build}
      tips={{
        count: places.length,
        content: (index) => tip(...(places[index] ?? ([0, 0] as const))),
      }}
      onPick={
        onPick &&
        ((index) => {
          const place = places[index];
          if (place) onPick(...place);
        })
      }
      legend={shown.map(({ key, label, color, hidden }) => ({
        key,
        label,
        color,
        shown: !hidden,
      }))}
      onToggle={toggle}
    />
  );
}
