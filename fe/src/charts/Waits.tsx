import { useCallback } from "react";
import type { TooltipContent } from "../draw";
import { Chart } from "./Chart";
import type { ChartRow } from "./ChartTable";
import type { SceneTheme } from "./scene";
import { waitsHeight, waitsPicture } from "./scenes/waits";
import type { WaitsData } from "./types";

interface Props {
  readonly title: string;
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly data: WaitsData;
  readonly tip: (box: number) => TooltipContent;
  readonly head: readonly string[];
  readonly rows: readonly ChartRow[];
}

/** Boxes that wait for other boxes. `data` must keep its identity. */
export function Waits({ data, tip, head, ...props }: Props) {
  const build = useCallback(
    (theme: SceneTheme, width: number) => waitsPicture(data, theme, width),
    [data],
  );
  return (
    <Chart
      {...props}
      height={waitsHeight(data)}
      build={build}
      tips={{ count: data.boxes.length, content: tip }}
      head={head}
      texts={head.length}
    />
  );
}
