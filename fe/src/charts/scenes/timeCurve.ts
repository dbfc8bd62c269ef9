/** Step functions and stacked areas over a window of time. Pure. */
import { type Axis, contains, span, type TimeWindow } from "../../draw";
import { count } from "../../format";
import { BETWEEN, heightOf, timeTicks, valueAxis } from "../axes";
import { fitted, head } from "../labels";
import { type Box, type Picture, pixels, type SceneTheme, type Shape } from "../scene";
import type { CurveArea, CurveEvent, CurveLine, CurveMark, CurveSpan } from "../types";

/** Pixels around the plot. */
export const PLOT = { left: 76, right: 32, top: 26, bottom: 26 } as const;

/** Spans narrower than this are not marked: they would be a grey area. */
const NARROWEST_SPAN = 5;
/** Of a mark. */
const RADIUS = 4;
/** Lower areas have no line around them. */
const OUTLINED = 3;

export interface TimeCurveData {
  /** Below the lines. */
  readonly areas?: readonly CurveArea[] | undefined;
  readonly lines: readonly CurveLine[];
  readonly window: TimeWindow;
  /** The window is of numbers of something, not of times. */
  readonly counted?: boolean | undefined;
  readonly y: Axis;
  readonly events?: readonly CurveEvent[] | undefined;
  readonly marks: readonly CurveMark[];
  readonly spans: readonly CurveSpan[];
  readonly cursor: number | null;
}

/** Where a moment is, in pixels from the left of the plot. */
export function pixelOf(time: number, window: TimeWindow, plotWidth: number): number {
  return ((time - window.start) / span(window)) * plotWidth;
}

/** The moment at a place, which may lie beside the plot. */
export function timeOf(pixel: number, window: TimeWindow, plotWidth: number): number {
  const share = Math.min(1, Math.max(0, plotWidth > 0 ? pixel / plotWidth : 0));
  return Math.round(window.start + share * span(window));
}

/** Those that touch the window, or none when there are too many to tell apart. */
export function shownSpans(
  spans: readonly CurveSpan[],
  window: TimeWindow,
  plotWidth: number,
): CurveSpan[] {
  const inside = spans.filter(({ start, end }) => start < window.end && end > window.start);
  return inside.length * NARROWEST_SPAN <= plotWidth ? inside : [];
}

/** Pointer and keys go to moments of it, not to marks. */
export function timeCurvePicture(
  data: TimeCurveData,
  theme: SceneTheme,
  width: number,
  height: number,
): Picture {
  const plot = {
    x: PLOT.left,
    y: PLOT.top,
    width: Math.max(1, width - PLOT.left - PLOT.right),
    height: Math.max(1, height - PLOT.top - PLOT.bottom),
  };
  return { shapes: timeCurveScene(data, plot, theme), marks: [], at: () => null };
}

export function timeCurveScene(data: TimeCurveData, plot: Box, theme: SceneTheme): Shape[] {
  const { areas = [], lines, window, counted, events = [], marks, cursor } = data;
  const x = (time: number) => pixels(plot.x + pixelOf(time, window, plot.width));
  const height = heightOf(plot, data.y.min, data.y.max);
  const y = (value: number) => pixels(height(value));
  const inSight = ({ time }: { readonly time: number }) => contains(window, time);
  return [
    ...valueAxis(plot, data.y.ticks, y, data.y.label, theme),
    ...spanShapes(data, plot, x, theme),
    ...timeTicks(window, plot, x, theme, { write: counted ? count : undefined }),
    ...areas.map((area) => areaShape(area, x, y, theme)),
    ...lines.flatMap((line) => lineShapes(line, data, plot, x, y, theme)),
    ...eventShapes(events.filter(inSight), plot, x, theme),
    ...(cursor !== null && contains(window, cursor)
      ? [upright(x(cursor), plot, theme.resolve("var(--accent)"))]
      : []),
    ...marks.filter(inSight).flatMap((mark) => markShapes(mark, plot, x, y, theme)),
  ];
}

type Place = (value: number) => number;

/** Along its upper edge and back along the lower one; at least a pixel wide. */
function areaShape(area: CurveArea, x: Place, y: Place, theme: SceneTheme): Shape {
  const { times, low, high, color, outlined } = area;
  const last = high.length - 1;
  const at = (heights: ArrayLike<number>, index: number) => y(heights[index] ?? 0);
  const left = x(times[0] ?? 0);
  const parts = [`M${left} ${at(low, 0)}V${at(high, 0)}`];
  for (let i = 1; i <= last; i++) {
    if (high[i] !== high[i - 1]) parts.push(`H${x(times[i] ?? 0)}V${at(high, i)}`);
  }
  parts.push(`H${Math.max(x(times[last + 1] ?? 0), left + 1)}V${at(low, last)}`);
  for (let i = last; i > 0; i--) {
    if (low[i] !== low[i - 1]) parts.push(`H${x(times[i] ?? 0)}V${at(low, i - 1)}`);
  }
  const isHigh = outlined && at(low, 0) - at(high, 0) > OUTLINED;
  const line = isHigh ? { stroke: theme.surface, width: 0.5 } : {};
  return { kind: "path", d: `${parts.join("")}Z`, fill: theme.resolve(color), ...line };
}

function lineShapes(
  { points, color, area, dashed }: CurveLine,
  { window, y: { min, max } }: TimeCurveData,
  plot: Box,
  x: Place,
  y: Place,
  theme: SceneTheme,
): Shape[] {
  const line = stepPath(points, window, x, (value) => y(Math.min(max, Math.max(min, value))));
  if (!line) return [];
  const stroke = theme.resolve(color);
  const d = `${line.d}V${plot.y + plot.height}H${line.from}Z`;
  return [
    ...(area ? [{ kind: "path", d, fill: stroke, opacity: 0.16 } as const] : []),
    { kind: "path", d: line.d, stroke, width: 1.5, dashed },
  ];
}

function upright(x: number, plot: Box, stroke: string): Shape {
  return { kind: "path", d: `M${x} ${plot.y}V${plot.y + plot.height}`, stroke, width: 1.5 };
}

/** Their names stand above the plot, where no curve crosses them; from the right, so that none lies on another. */
function eventShapes(
  events: readonly CurveEvent[],
  plot: Box,
  x: Place,
  theme: SceneTheme,
): Shape[] {
  const shapes = events.map(({ time, color, tick }): Shape => {
    const [at, stroke] = [x(time), theme.resolve(color)];
    if (tick === undefined) return upright(at, plot, stroke);
    return { kind: "path", d: `M${at} ${plot.y + plot.height}v${tick}`, stroke };
  });
  let free = plot.x + plot.width + PLOT.right;
  for (const { time, color, label } of events.toSorted((a, b) => b.time - a.time)) {
    if (label === undefined) continue;
    const [at, wide] = [x(time), theme.measure(label)];
    const from = at + 4 + wide <= free ? at + 4 : Math.min(at - 4, free - BETWEEN) - wide;
    const text = { text: label, align: "left", fill: theme.resolve(color) } as const;
    shapes.push({ kind: "text", x: from, y: plot.y - 9, ...text });
    free = from;
  }
  return shapes;
}

function markShapes(
  { time, value, label }: CurveMark,
  plot: Box,
  x: Place,
  y: Place,
  theme: SceneTheme,
): Shape[] {
  const [left, top] = [x(time), y(value)];
  const circle = `a${RADIUS} ${RADIUS} 0 1 0 ${2 * RADIUS} 0a${RADIUS} ${RADIUS} 0 1 0 ${-2 * RADIUS} 0z`;
  const look = { fill: theme.surface, stroke: theme.text, width: 2 };
  // Away from the nearer edge.
  const align = left > plot.x + plot.width / 2 ? "right" : "left";
  return [
    { kind: "path", d: `M${left - RADIUS} ${top}${circle}`, ...look },
    {
      kind: "text",
      x: left,
      y: top - RADIUS - 5,
      text: label,
      align,
      fill: theme.text,
      bold: true,
    },
  ];
}

/** A value holds until the next point; what lies before the window has its last value at the window's beginning. */
export function stepPath(
  points: CurveLine["points"],
  window: TimeWindow,
  x: (time: number) => number,
  y: (value: number) => number,
): { readonly d: string; readonly from: number } | null {
  let first = points.findIndex(([time]) => time >= window.start);
  const before = first < 0 ? points.at(-1) : points[first - 1];
  // After the last point nothing is known.
  if (first < 0 || (points[first]?.[0] ?? 0) > window.end) {
    if (!before || first < 0) return null;
    return { d: `M${x(window.start)} ${y(before[1])}H${x(window.end)}`, from: x(window.start) };
  }
  const begin = before ?? (points[first] as readonly [number, number]);
  const from = x(before ? window.start : begin[0]);
  const parts = [`M${from} ${y(begin[1])}`];
  for (; first < points.length; first++) {
    const [time, value] = points[first] as readonly [number, number];
    if (time > window.end) {
      parts.push(`H${x(window.end)}`);
      break;
    }
    parts.push(`H${x(time)}V${y(value)}`);
  }
  return { d: parts.join(""), from };
}

/** Where spans begin and end, and their names in the middle of what is seen of them. */
function spanShapes(
  { spans, window }: TimeCurveData,
  plot: Box,
  x: (time: number) => number,
  theme: SceneTheme,
): Shape[] {
  const shown = shownSpans(spans, window, plot.width);
  const edges = new Set(shown.flatMap(({ start, end }) => [start, end]));
  const shapes: Shape[] = [];
  for (const time of edges) {
    if (time <= window.start || time >= window.end) continue;
    const at = x(time);
    const line = { kind: "line", x1: at, x2: at } as const;
    shapes.push(
      { ...line, y1: plot.y - 4, y2: plot.y, stroke: theme.muted },
      { ...line, y1: plot.y, y2: plot.y + plot.height, stroke: theme.line, dashed: true },
    );
  }
  let end = Number.NEGATIVE_INFINITY;
  for (const span of shown) {
    const from = x(Math.max(window.start, span.start));
    const to = x(Math.min(window.end, span.end));
    const at = (from + to) / 2;
    const text = fitted(span.label, plot.width / 2, theme.measure, head);
    const half = theme.measure(text) / 2;
    if (at - half < end + BETWEEN) continue;
    end = at + half;
    shapes.push({ kind: "text", x: at, y: plot.y - 9, text, align: "center", fill: theme.muted });
  }
  return shapes;
}
