/** From data and size to shapes. Pure: what is drawn can be tested without a screen. */
import { type Unit, value } from "../../format";
import type { Bucket } from "./merge";

export interface SceneTheme {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly flag: string;
  readonly font: string;
  readonly resolve: (color: string) => string;
}

export type Shape =
  | {
      kind: "rect";
      x: number;
      y: number;
      width: number;
      height: number;
      fill?: string;
      stroke?: string;
    }
  | { kind: "line"; x1: number; y1: number; x2: number; y2: number; stroke: string }
  | {
      kind: "text";
      x: number;
      y: number;
      text: string;
      align: "left" | "center" | "right";
      fill: string;
    }
  /** A triangle that points down to a place. */
  | { kind: "flag"; x: number; y: number; fill: string };

export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface SceneData {
  readonly buckets: readonly Bucket[];
  readonly colors: readonly string[];
  readonly mode: "absolute" | "percent";
  readonly unit: Unit;
  /** What the first item of a bucket is called. */
  readonly label: (bucket: Bucket) => string;
  /** The position that is marked, or null. */
  readonly selected: number | null;
  readonly xLabel: string;
}

const MARGIN = { left: 68, right: 10, top: 16, bottom: 40 };
const CHARACTER = 6.6;
const WIDEST = 56;
const LONGEST_LABEL = 16;
const FLAG = 8;

export function plotOf(width: number, height: number): Plot {
  return {
    left: MARGIN.left,
    top: MARGIN.top,
    width: Math.max(1, width - MARGIN.left - MARGIN.right),
    height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
  };
}

/** 0 and a few round numbers up to at least `max`. */
export function niceTicks(max: number, wanted = 5): number[] {
  if (!(max > 0)) return [0];
  const rough = max / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    ([1, 2, 2.5, 5, 10].find((digit) => digit * power >= rough * (1 - 1e-9)) ?? 10) * power;
  const ticks: number[] = [];
  for (let i = 0; ticks.length === 0 || (ticks.at(-1) as number) < max * (1 - 1e-9); i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

/** Which bucket is at a place, or null beside the plot. */
export function bucketAt(plot: Plot, buckets: number, x: number): number | null {
  const at = Math.floor(((x - plot.left) / plot.width) * buckets);
  return at >= 0 && at < buckets ? at : null;
}

/** The middle of a bucket. */
export function centerOf(plot: Plot, buckets: number, index: number): number {
  return plot.left + ((index + 0.5) * plot.width) / Math.max(1, buckets);
}

export function columnsScene(data: SceneData, plot: Plot, theme: SceneTheme): Shape[] {
  const { buckets, mode } = data;
  const highest = buckets.reduce((most, { max }) => Math.max(most, max), 0);
  const ticks = mode === "percent" ? [0, 0.25, 0.5, 0.75, 1] : niceTicks(highest);
  const top = ticks.at(-1) || 1;
  const y = (at: number) => plot.top + plot.height * (1 - at / top);
  const bottom = plot.top + plot.height;
  const shapes: Shape[] = [];

  for (const tick of ticks) {
    const at = Math.round(y(tick)) + 0.5;
    shapes.push({
      kind: "line",
      x1: plot.left,
      y1: at,
      x2: plot.left + plot.width,
      y2: at,
      stroke: theme.line,
    });
    shapes.push({
      kind: "text",
      x: plot.left - 8,
      y: at + 4,
      align: "right",
      fill: theme.muted,
      text: mode === "percent" ? `${tick * 100} %` : tick === 0 ? "0" : value(tick, data.unit),
    });
  }

  const pitch = plot.width / Math.max(1, buckets.length);
  const bar = Math.min(WIDEST, pitch < 8 ? pitch : pitch * 0.76);
  buckets.forEach((bucket, index) => {
    const center = centerOf(plot, buckets.length, index);
    const left = center - bar / 2;
    let from = 0;
    bucket.parts.forEach((part, series) => {
      const size = mode === "percent" ? (bucket.mean > 0 ? part / bucket.mean : 0) : part;
      if (size <= 0) return;
      shapes.push({
        kind: "rect",
        x: left,
        y: y(from + size),
        width: bar,
        height: y(from) - y(from + size),
        fill: data.colors[series] ?? theme.muted,
      });
      from += size;
    });
    const end = mode === "percent" ? 1 : bucket.max;
    if (mode === "absolute" && bucket.items > 1 && bucket.max > bucket.min) {
      shapes.push({
        kind: "line",
        x1: center,
        y1: y(bucket.min),
        x2: center,
        y2: y(bucket.max),
        stroke: theme.text,
      });
    }
    const isSelected =
      data.selected !== null && data.selected >= bucket.from && data.selected < bucket.to;
    if (isSelected) {
      shapes.push({
        kind: "rect",
        x: left - 1.5,
        y: plot.top,
        width: bar + 3,
        height: plot.height,
        stroke: theme.text,
      });
    }
    if (bucket.flagged > 0) {
      shapes.push({ kind: "flag", x: center, y: y(end) - 3, fill: theme.flag });
    }
  });

  shapes.push(...labels(data, plot, pitch, bottom + 16, theme));
  shapes.push({
    kind: "text",
    x: plot.left + plot.width / 2,
    y: bottom + 34,
    text: data.xLabel,
    align: "center",
    fill: theme.muted,
  });
  return shapes;
}

/** As many labels as stand beside each other. */
function labels(
  { buckets, label }: SceneData,
  plot: Plot,
  pitch: number,
  at: number,
  theme: SceneTheme,
): Shape[] {
  const texts = buckets.map((bucket) => brief(label(bucket)));
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 1);
  const every = Math.max(1, Math.ceil((longest * CHARACTER + 10) / Math.max(pitch, 0.01)));
  return texts.flatMap((text, index): Shape[] =>
    index % every === 0
      ? [
          {
            kind: "text",
            x: centerOf(plot, buckets.length, index),
            y: at,
            text,
            align: "center",
            fill: theme.muted,
          },
        ]
      : [],
  );
}

/** Long names differ at their end. */
function brief(text: string): string {
  return text.length <= LONGEST_LABEL ? text : `…${text.slice(text.length - LONGEST_LABEL + 1)}`;
}

export { FLAG };
