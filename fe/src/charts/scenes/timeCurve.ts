/** Step functions over a window of time. Pure. */
import { type Axis, span, type TimeWindow } from "../../draw";
import { BETWEEN, heightOf, timeTicks, valueAxis } from "../axes";
import { fitted, head } from "../labels";
import { type Box, type Picture, pixels, type SceneTheme, type Shape } from "../scene";
import type { CurveLine, CurveMark, CurveSpan } from "../types";

/** Pixels around the plot. */
export const PLOT = { left: 76, right: 32, top: 26, bottom: 26 } as const;

/** Spans narrower than this are not marked: they would be a grey area. */
const NARROWEST_SPAN = 5;
/** Of a mark. */
const RADIUS = 4;

export interface TimeCurveData {
  readonly lines: readonly CurveLine[];
  readonly window: TimeWindow;
  readonly y: Axis;
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
  const { lines, window, marks, cursor } = data;
  const x = (time: number) => pixels(plot.x + pixelOf(time, window, plot.width));
  const height = heightOf(plot, data.y.min, data.y.max);
  const y = (value: number) => pixels(height(value));
  const inSight = (time: number) => time >= window.start && time <= window.end;
  const bottom = plot.y + plot.height;
  const shapes = [
    ...valueAxis(plot, data.y.ticks, y, data.y.label, theme),
    ...spanShapes(data, plot, x, theme),
    ...timeTicks(window, plot, x, theme),
  ];
  for (const { points, color, area, dashed } of lines) {
    const line = stepPath(points, window, x, (value) =>
      y(Math.min(data.y.max, Math.max(data.y.min, value))),
    );
    if (!line) continue;
    const stroke = theme.resolve(color);
    if (area) {
      const d = `${line.d}V${bottom}H${line.from}Z`;
      shapes.push({ kind: "path", d, fill: stroke, opacity: 0.16 });
    }
    shapes.push({ kind: "path", d: line.d, stroke, width: 1.5, dashed });
  }
  if (cursor !== null && inSight(cursor)) {
    const d = `M${x(cursor)} ${plot.y}V${bottom}`;
    shapes.push({ kind: "path", d, stroke: theme.resolve("var(--accent)"), width: 1.5 });
  }
  for (const { time, value, label } of marks.filter(({ time }) => inSight(time))) {
    const [left, top] = [x(time), y(value)];
    const circle = `a${RADIUS} ${RADIUS} 0 1 0 ${2 * RADIUS} 0a${RADIUS} ${RADIUS} 0 1 0 ${-2 * RADIUS} 0z`;
    shapes.push(
      {
        kind: "path",
        d: `M${left - RADIUS} ${top}${circle}`,
        fill: theme.surface,
        stroke: theme.text,
        width: 2,
      },
      {
        kind: "text",
        x: left,
        y: top - RADIUS - 5,
        text: label,
        // Away from the nearer edge.
        align: left > plot.x + plot.width / 2 ? "right" : "left",
        fill: theme.text,
        bold: true,
      },
    );
  }
  return shapes;
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
