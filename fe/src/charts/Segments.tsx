import { useCallback } from "react";
import { type TooltipContent, useBoxWidth } from "../draw";
import { Chart } from "./Chart";
import type { ChartRow } from "./ChartTable";
import type { SceneTheme } from "./scene";
import { segmentsHeight, segmentsPicture } from "./scenes/segments";
import type { SegmentsData } from "./types";

interface Props extends SegmentsData {
  readonly title: string;
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly keys: string;
  readonly tip: (piece: number) => TooltipContent;
  /** The same numbers as a table. */
  readonly head: readonly string[];
  readonly texts: number;
  readonly rows: () => readonly ChartRow[];
}

/** Segments of memory as bars. `segments`, `pieces` and `look` must keep their identity. */
export function Segments({ segments, pieces, look, tip, ...props }: Props) {
  const { box, width } = useBoxWidth();
  const build = useCallback(
    (theme: SceneTheme, wide: number) => segmentsPicture({ segments, pieces, look }, theme, wide),
    [segments, pieces, look],
  );
  return (
    <div className="chart-scroll">
      <div ref={box}>
        <Chart
          {...props}
          height={segmentsHeight(segments.bytes, width)}
          build={build}
          tips={{ count: pieces.segment.length, content: tip }}
        />
      </div>
    </div>
  );
}
