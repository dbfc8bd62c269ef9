import { useCallback } from "react";
import type { TooltipContent } from "../draw";
import { Chart } from "./Chart";
import type { ChartRow } from "./ChartTable";
import type { LegendEntry } from "./Legend";
import type { SceneTheme } from "./scene";
import { lanesHeight, lanesPicture } from "./scenes/lanes";
import type { LanesData } from "./types";

interface Props {
  /** Must keep its identity. */
  readonly data: LanesData;
  readonly title: string;
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly keys: string;
  readonly legend: readonly LegendEntry[];
  /** By index: pins first, then the marks of one lane after the other. */
  readonly tip: (index: number) => TooltipContent;
  readonly onPick: (index: number) => void;
  /** The same numbers as a table. */
  readonly head: readonly string[];
  readonly tableRows: () => readonly ChartRow[];
}

/** What went on side by side in an interval. */
export function Lanes({ data, tip, tableRows, ...props }: Props) {
  const build = useCallback(
    (theme: SceneTheme, width: number) => lanesPicture(data, theme, width),
    [data],
  );
  const count = data.lanes.reduce((sum, { marks }) => sum + marks.length, data.pins.length);
  return (
    <Chart
      {...props}
      legendAt="line"
      height={lanesHeight(data)}
      build={build}
      tips={{ count, content: tip }}
      texts={2}
      rows={tableRows}
    />
  );
}
