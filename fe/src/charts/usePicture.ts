import { useLayoutEffect, useMemo, useRef } from "react";
import { useBoxWidth } from "../draw";
import { useComputed } from "../host";
import { type LegendEntry, legendScene } from "./Legend";
import { paintCanvas } from "./paint";
import { type FileKind, type Marks, type Picture, type SceneTheme, sceneTheme } from "./scene";

interface Wanted {
  /** The file name of a saved image. */
  readonly title: string;
  /** Pixels. */
  readonly height: number;
  /** Below the picture in a saved image. */
  readonly legend: readonly LegendEntry[];
  /** Must keep its identity while it means the same. */
  readonly build: (theme: SceneTheme, width: number) => Picture<Marks>;
}

/**
 * A picture as wide as `box`, drawn on `canvas` anew with each size and theme. Until the width is known, `picture` is
 * null and there should be no canvas: one that can be seen is drawn on, so that a click on it finds what lies there.
 */
export function usePicture({ title, height, legend, build }: Wanted) {
  const { box, width } = useBoxWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useComputed(box, sceneTheme);
  const picture = useMemo(
    () => (theme && width > 0 ? build(theme, width) : null),
    [build, theme, width],
  );
  useLayoutEffect(() => {
    if (picture && theme) paintCanvas(canvas.current, width, height, picture.shapes, theme);
  }, [picture, theme, width, height]);
  const save = async (kind: FileKind) => {
    if (!picture || !theme) return false;
    const { savePicture } = await import("./save");
    const below = legendScene(legend, width, height, theme);
    const shapes = [...picture.shapes, ...below.shapes];
    return savePicture(kind, title, shapes, width, height + below.height, theme);
  };
  return { box, canvas, width, theme, picture, save };
}
