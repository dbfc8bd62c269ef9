/** Round values, and the lines and labels around a plot. Pure. */
import { type Axis, bytesAxis, type TimeWindow, timeAxis } from "../draw";
import { type Unit, value } from "../format";
import { type Box, pixels, type SceneTheme, type Shape } from "./scene";

type Inks = Pick<SceneTheme, "muted" | "line">;
type Measure = Pick<SceneTheme, "measure">;

/** Pixels of a letter, about. */
const CHARACTER = 6.6;
const LONGEST_LABEL = 16;
/** Pixels from one round time to the next, at least about so many. */
const TICK_PIXELS = 110;
/** Between two names or times. */
export const BETWEEN = 8;

/** 0 and a few round numbers down to at most `min` and up to at least `max`. */
export function niceTicks(max: number, wanted = 5, min = 0): number[] {
  const span = Math.max(0, max) - Math.min(0, min);
  if (!(span > 0)) return [0];
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    ([1, 2, 2.5, 5, 10].find((digit) => digit * power >= rough * (1 - 1e-9)) ?? 10) * power;
  const first = Math.floor(Math.min(0, min) / step + 1e-9);
  const last = Math.ceil(Math.max(0, max) / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** An axis from 0, or a round value below `low`, up to a round value above `high`. Bytes are round in powers of 1024. */
export function amountAxis(unit: Unit, high: number, wanted = 5, low = 0): Axis {
  const [min, max] = [Math.min(0, low), Math.max(0, high)];
  if (unit === "bytes" && max > min) return bytesAxis(min, max, wanted);
  const ticks = niceTicks(max, wanted, min);
  return {
    min: ticks[0] ?? 0,
    max: ticks.at(-1) ?? 0,
    ticks,
    label: (tick) => (tick === 0 ? "0" : value(tick, unit)),
  };
}

/** Where a value is, between the bottom and the top of a plot. */
export function heightOf(plot: Box, min: number, max: number): (value: number) => number {
  const span = max - min || 1;
  return (value) => plot.y + plot.height * (1 - (value - min) / span);
}

/** The middle of a column. */
export function centerOf(plot: Box, columns: number, index: number): number {
  return plot.x + ((index + 0.5) * plot.width) / Math.max(1, columns);
}

/** Which column is at a place, or null beside the plot. */
export function columnAt(plot: Box, columns: number, x: number): number | null {
  const at = Math.floor(((x - plot.x) / plot.width) * columns);
  return at >= 0 && at < columns ? at : null;
}

/** A column from the top to the bottom of a plot. */
export function columnBox(plot: Box, columns: number, index: number): Box {
  const width = plot.width / Math.max(1, columns);
  return { x: plot.x + index * width, y: plot.y, width: Math.max(1, width), height: plot.height };
}

/** Lines across the plot, unless the values are at the right, and what they stand for. */
export function valueAxis(
  plot: Box,
  ticks: readonly number[],
  y: (value: number) => number,
  label: (tick: number) => string,
  theme: Inks,
  side: "left" | "right" = "left",
): Shape[] {
  const right = plot.x + plot.width;
  return ticks.flatMap((tick): Shape[] => {
    const at = Math.round(y(tick)) + 0.5;
    const text: Shape = {
      kind: "text",
      x: side === "left" ? plot.x - 8 : right + 8,
      y: at + 4,
      text: label(tick),
      align: side === "left" ? "right" : "left",
      fill: theme.muted,
    };
    return side === "left"
      ? [{ kind: "line", x1: plot.x, y1: at, x2: right, y2: at, stroke: theme.line }, text]
      : [text];
  });
}

/** How far a name may reach beyond its plot. */
const BEYOND = 8;

/** As many names of columns as stand beside each other; the last one ends where the plot does. */
export function columnLabels(names: readonly string[], plot: Box, y: number, theme: Inks): Shape[] {
  const texts = names.map(brief);
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 1) * CHARACTER;
  const pitch = plot.width / Math.max(1, names.length);
  const every = Math.max(1, Math.ceil((longest + 10) / Math.max(pitch, 0.01)));
  const end = plot.x + plot.width + BEYOND;
  return texts.flatMap((text, index): Shape[] => {
    if (index % every !== 0) return [];
    const middle = centerOf(plot, names.length, index);
    const x = Math.min(middle, end - (text.length * CHARACTER) / 2);
    // One that had to move must not come to stand over the one before.
    if (index > 0 && x < middle && every * pitch - (middle - x) < longest + 10) return [];
    return [{ kind: "text", x, y, text, align: "center", fill: theme.muted }];
  });
}

interface TickOptions {
  /** Pixels that a label may reach beyond the plot. */
  readonly beyond?: number;
  /** Of places that are not times. */
  readonly write?: ((tick: number) => string) | undefined;
}

/** Round times below a plot, at the places where `x` has them; a label that would reach further than names may is moved. */
export function timeTicks(
  window: TimeWindow,
  plot: Box,
  x: (time: number) => number,
  theme: Inks & Measure,
  { beyond = Number.POSITIVE_INFINITY, write }: TickOptions = {},
): Shape[] {
  const axis = timeAxis(window, Math.max(2, Math.floor(plot.width / TICK_PIXELS)));
  const bottom = plot.y + plot.height;
  const shapes: Shape[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const tick of axis.ticks) {
    const at = x(tick);
    shapes.push({ kind: "line", x1: at, y1: bottom, x2: at, y2: bottom + 5, stroke: theme.line });
    const text = (write ?? axis.label)(tick);
    const half = theme.measure(text) / 2;
    const middle = Math.min(at, plot.x + plot.width + beyond - half);
    if (middle - half < end + BETWEEN) continue;
    end = middle + half;
    shapes.push({
      kind: "text",
      x: middle,
      y: bottom + 19,
      text,
      align: "center",
      fill: theme.muted,
    });
  }
  return shapes;
}

/**
 * The same below columns that are moments, in order, at least two of them. Where moments are missing, columns stand
 * closer together than their times: a time between two of them is between their middles.
 */
export function momentTicks(moments: readonly number[], plot: Box, theme: Inks & Measure): Shape[] {
  const last = moments.length - 1;
  const moment = (index: number) => moments[index] ?? 0;
  const x = (time: number) => {
    const next = moments.findIndex((each) => each >= time);
    if (next <= 0) return centerOf(plot, moments.length, next < 0 ? last : 0);
    const part = (time - moment(next - 1)) / (moment(next) - moment(next - 1));
    return pixels(centerOf(plot, moments.length, next - 1 + part));
  };
  return timeTicks({ start: moment(0), end: moment(last) }, plot, x, theme, { beyond: BEYOND });
}

/** Long names differ at their end. */
function brief(text: string): string {
  return text.length <= LONGEST_LABEL ? text : `…${text.slice(text.length - LONGEST_LABEL + 1)}`;
}
