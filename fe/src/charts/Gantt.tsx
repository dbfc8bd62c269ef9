import { useCallback } from "react";
import type { TooltipContent } from "../draw";
import { Chart } from "./Chart";
import type { ChartRow } from "./ChartTable";
import type { SceneTheme } from "./scene";
import { ganttHeight, ganttPicture } from "./scenes/gantt";
import type { GanttData } from "./types";

interface Props extends GanttData {
  readonly title: string;
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly tip: (span: number) => TooltipContent;
  readonly onPick?: (span: number) => void;
  /** The same numbers as a table. */
  readonly head: readonly string[];
  readonly tableRows: () => readonly ChartRow[];
}

/** Stretches of time in rows. `rows`, `spans` and `kinds` must keep their identity. */
export function Gantt({ rows, spans, kinds, end, tip, tableRows, ...props }: Props) {
  const build = useCallback(
    (theme: SceneTheme, width: number) => ganttPicture({ rows, spans, kinds, end }, theme, width),
    [rows, spans, kinds, end],
  );
  return (
    <Chart
      {...props}
      height={ganttHeight(rows.length)}
      build={build}
      tips={{ count: spans.length, content: tip }}
      legend={kinds.map((kind) => ({ ...kind, shown: true }))}
      rows={tableRows}
    />
  );
}
