/** The whole span in a strip: how busy device and host were, steps, hits of the search, and the window to move. */
import { type PointerEvent, useCallback, useEffect, useRef } from "react";
import type { TimeWindow } from "../draw";
import { partNumber } from "../draw/parts";
import { clamped, span } from "./camera";
import { type Colors, PARTS_FROM } from "./colors";

/** Values of equal stretches of a time, 0…1. */
export interface Density {
  readonly window: TimeWindow;
  readonly values: readonly number[];
}

export interface StripData {
  readonly device: Density | null;
  readonly host: Density | null;
  readonly found: Density | null;
  readonly steps: readonly { readonly start: number }[];
}

interface Props {
  readonly data: StripData;
  readonly colors: Colors | null;
  readonly whole: TimeWindow;
  readonly window: TimeWindow;
  readonly onWindow: (window: TimeWindow) => void;
}

export const STRIP = 40;
const [HOST, DEVICE] = [PARTS_FROM + partNumber("operator"), PARTS_FROM + partNumber("compute")];
const FOUND = 5;
/** Pixels around an edge that mean the edge. */
const EDGE = 5;
const NARROWEST = 3;

export function Strip({ data, colors, whole, window: seen, onWindow }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ part: "start" | "end" | "all"; by: number } | null>(null);

  const draw = useCallback(() => {
    if (canvas.current && colors) paint(canvas.current, data, colors, whole, seen);
  }, [data, colors, whole, seen]);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    // It calls at once, too, before the next picture: changes that come between two pictures are drawn once.
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [draw]);

  const timeOf = (event: PointerEvent<HTMLCanvasElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return whole.start + ((event.clientX - left) / width) * span(whole);
  };
  return (
    // What it does can all be done with the keys of the timeline, and a canvas takes no focus.
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: see above
    <canvas
      ref={canvas}
      className="timeline-strip"
      aria-hidden="true"
      style={{ height: STRIP }}
      onPointerDown={(event) => {
        const at = timeOf(event);
        const reach = (EDGE / event.currentTarget.clientWidth) * span(whole);
        const part =
          Math.abs(at - seen.start) < reach
            ? "start"
            : Math.abs(at - seen.end) < reach
              ? "end"
              : "all";
        const inside = at >= seen.start && at <= seen.end;
        const by = part === "all" ? (inside ? at - seen.start : span(seen) / 2) : 0;
        drag.current = { part, by };
        event.currentTarget.setPointerCapture(event.pointerId);
        if (part === "all" && !inside)
          onWindow(clamped({ start: at - by, end: at - by + span(seen) }, whole));
      }}
      onPointerMove={(event) => {
        if (!drag.current) return;
        const { part, by } = drag.current;
        const at = timeOf(event);
        if (part === "all") onWindow(clamped({ start: at - by, end: at - by + span(seen) }, whole));
        else if (part === "start" && at < seen.end) onWindow({ ...seen, start: at });
        else if (part === "end" && at > seen.start) onWindow({ ...seen, end: at });
      }}
      onPointerUp={() => {
        drag.current = null;
      }}
    />
  );
}

function paint(
  canvas: HTMLCanvasElement,
  data: StripData,
  colors: Colors,
  whole: TimeWindow,
  seen: TimeWindow,
): void {
  const ratio = globalThis.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const context = canvas.getContext("2d");
  if (!context) return;
  const [wide, high] = [Math.round(width * ratio), Math.round(STRIP * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colors.surface2;
  context.fillRect(0, 0, width, STRIP);
  const xOf = (time: number) => ((time - whole.start) / span(whole)) * width;
  const half = (STRIP - FOUND) / 2;
  const bars = (density: Density | null, color: string, base: number, height: number) => {
    if (!density) return;
    context.fillStyle = color;
    const bin = span(density.window) / density.values.length;
    for (const [at, value] of density.values.entries()) {
      if (value <= 0) continue;
      const x = xOf(density.window.start + at * bin);
      const wide = Math.max(1, xOf(density.window.start + (at + 1) * bin) - x + 0.3);
      const high = Math.max(1, value * height);
      context.fillRect(x, base - high, wide, high);
    }
  };
  bars(data.host, colors.solid[HOST] ?? colors.muted, FOUND + half, half);
  bars(data.device, colors.solid[DEVICE] ?? colors.accent, STRIP, half);
  bars(data.found, colors.danger, FOUND, FOUND);
  context.fillStyle = colors.muted;
  for (const { start } of data.steps) context.fillRect(Math.round(xOf(start)), FOUND, 1, STRIP);
  const x0 = xOf(seen.start);
  const x1 = Math.max(x0 + NARROWEST, xOf(seen.end));
  context.globalAlpha = 0.55;
  context.fillStyle = colors.surface;
  context.fillRect(0, 0, x0, STRIP);
  context.fillRect(x1, 0, width - x1, STRIP);
  context.globalAlpha = 1;
  context.strokeStyle = colors.accent;
  context.lineWidth = 2;
  context.strokeRect(x0 + 1, 1, Math.max(1, x1 - x0 - 2), STRIP - 2);
}
