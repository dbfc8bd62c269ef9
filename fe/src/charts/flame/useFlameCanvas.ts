import { type MouseEvent, type RefObject, useCallback, useEffect, useMemo, useRef } from "react";
import { useComputed } from "../../host";
import { fillsOf, type Palette, readPalette } from "./colors";
import { type Box, boxesOf } from "./layout";
import { type BoxLook, colorOf, GAP, outline, paintLabels, ROW } from "./paint";
import { rasterize } from "./pixels";
import type { FlameProps } from "./types";

interface Wanted extends Pick<FlameProps, "entries" | "layout" | "focus" | "selected" | "hits"> {
  /** The entry that the keys have reached and that has an outline, -1 for none. */
  readonly reached: number;
}

/** The boxes that can be seen of a flame graph, drawn on `canvas` in `scroller`, and which one is where. */
export function useFlameCanvas({ entries, layout, focus, selected, hits, reached }: Wanted) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<readonly Box[]>([]);
  const image = useRef<ImageData | null>(null);
  const palette = useComputed(scroller, readPalette);
  const look = useMemo<BoxLook | null>(
    () =>
      palette && {
        label: entries.brief ?? entries.label,
        ...fillsOf(palette, entries.size, entries.kind, entries.name, hits),
      },
    [entries, hits, palette],
  );
  const draw = useCallback(() => {
    const [element, view] = [canvas.current, scroller.current];
    const context = element?.getContext("2d");
    if (!element || !view || !context || !look || !palette) return;
    const { clientWidth: width, clientHeight: height, scrollTop: top } = view;
    const ratio = window.devicePixelRatio || 1;
    resize(element, width, height, ratio);
    const [first, last] = [Math.floor(top / ROW), Math.ceil((top + height) / ROW)];
    const boxes = boxesOf(layout, focus, width, first, last);
    drawn.current = boxes;
    image.current = paintBoxes(context, image.current, boxes, look, ratio, top);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintLabels(context, boxes, look, palette, top);
    outlineBoxes(context, boxes, palette, top, selected, reached);
  }, [layout, focus, look, palette, selected, reached]);
  useDrawing(scroller, draw);

  const entryAt = (event: MouseEvent): number => {
    const view = scroller.current;
    if (!view) return -1;
    const { left, top } = view.getBoundingClientRect();
    const x = event.clientX - left;
    const level = Math.floor((event.clientY - top + view.scrollTop) / ROW);
    const box = drawn.current.find((b) => b.level === level && x >= b.x && x < b.x + b.width);
    return box?.entry ?? -1;
  };
  const show = (entry: number) => {
    const view = scroller.current;
    if (!view) return;
    const y = (layout.depth[entry] ?? 0) * ROW;
    if (y < view.scrollTop) view.scrollTop = y;
    else if (y + ROW > view.scrollTop + view.clientHeight)
      view.scrollTop = y + ROW - view.clientHeight;
  };
  return { scroller, canvas, palette, look, entryAt, show };
}

/** A canvas with a pixel for every pixel of the screen; it stays as it is where it has them. */
function resize(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width === wide && canvas.height === high) return;
  canvas.width = wide;
  canvas.height = high;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/** Returns the image that was put on the canvas: `before`, if it has the size. */
function paintBoxes(
  context: CanvasRenderingContext2D,
  before: ImageData | null,
  boxes: readonly Box[],
  look: BoxLook,
  ratio: number,
  top: number,
): ImageData | null {
  const { width, height } = context.canvas;
  if (width === 0 || height === 0) return before;
  const fits = before?.width === width && before.height === height;
  const image = fits ? before : context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const place = { row: ROW, gap: GAP, top };
  const raster = { pixels, width, height, ratio };
  rasterize(raster, boxes, look.colors, (box) => colorOf(box, look), place);
  context.putImageData(image, 0, 0);
  return image;
}

function outlineBoxes(
  context: CanvasRenderingContext2D,
  boxes: readonly Box[],
  palette: Palette,
  top: number,
  selected: number,
  reached: number,
): void {
  for (const box of boxes) {
    if (box.entry < 0) continue;
    if (box.entry === selected) outline(context, box, top, palette.text, 1.5);
    if (box.entry === reached) outline(context, box, top, palette.accent, 2.5);
  }
}

/** Draws once per frame at most: when something has changed, when scrolled, resized or moved to another screen. */
function useDrawing(scroller: RefObject<HTMLElement | null>, draw: () => void): void {
  useEffect(() => {
    const view = scroller.current;
    if (!view) return;
    let frame = 0;
    const ask = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    };
    draw();
    const observer = new ResizeObserver(ask);
    observer.observe(view);
    view.addEventListener("scroll", ask);
    window.addEventListener("resize", ask);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      view.removeEventListener("scroll", ask);
      window.removeEventListener("resize", ask);
    };
  }, [scroller, draw]);
}
