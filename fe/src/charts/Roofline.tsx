import { type ReactNode, useCallback, useMemo } from "react";
import type { TooltipContent } from "../draw";
import { Chart } from "./Chart";
import type { LegendEntry } from "./Legend";
import type { SceneTheme } from "./scene";
import { ROOFLINE_HEIGHT, type RooflineData, rooflinePicture } from "./scenes/roofline";

export type { Roof, RooflineData, RooflinePoint } from "./scenes/roofline";

interface RooflineProps {
  readonly title: string;
  readonly summary: string;
  readonly data: RooflineData;
  readonly legend: readonly LegendEntry[];
  readonly tip: (index: number) => TooltipContent;
  readonly onPick?: ((index: number) => void) | undefined;
  readonly head: readonly string[];
  readonly cells: (index: number) => readonly string[];
}

export function Roofline({
  title,
  summary,
  data,
  legend,
  tip,
  onPick,
  head,
  cells,
}: RooflineProps): ReactNode {
  const build = useCallback(
    (theme: SceneTheme, width: number) => rooflinePicture(data, theme, width),
    [data],
  );
  const tips = useMemo(() => ({ count: data.points.length, content: tip }), [data, tip]);
  return (
    <Chart
      title={title}
      summary={summary}
      height={ROOFLINE_HEIGHT}
      build={build}
      tips={tips}
      onPick={onPick}
      legend={legend}
      head={head}
      rows={() => data.points.map((_, index) => ({ cells: [...cells(index)] }))}
    />
  );
}
