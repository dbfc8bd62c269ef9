/** Points and curves on two logarithmic axes. Pure. */
import { type Unit, value } from "../../format";
import { valueAxis } from "../axes";
import { filled, type Picture, pixels, type SceneTheme, type Shape } from "../scene";
import type { ScatterData } from "../types";

const LEFT = 76;
const RIGHT = 16;
const TOP = 24;
const BOTTOM = 42;
const RADIUS = 4;
/** How far from a point it is still pointed at. */
const REACH = 10;

/** Powers of a base from at most `low` to at least `high`, so many that about `wanted` are between. */
export function logTicks(low: number, high: number, base: number, wanted: number): number[] {
  const per = Math.log(base);
  const first = Math.floor(Math.log(low) / per + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log(high) / per - 1e-9));
  const step = Math.max(1, Math.ceil((last - first) / wanted));
  const count = Math.ceil((last - first) / step);
  return Array.from({ length: count + 1 }, (_, at) => base ** (first + at * step));
}

/** Sizes are round in powers of two, everything else in powers of ten. */
function baseOf(unit: Unit): number {
  return unit === "bytes" ? 2 : 10;
}

interface LogAxis {
  readonly ticks: readonly number[];
  /** Where a value is, 0…1. */
  readonly of: (value: number) => number;
}

function logAxis(all: readonly number[], unit: Unit, wanted: number): LogAxis {
  const values = all.filter((each) => each > 0);
  const low = values.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, each) => Math.max(most, each), 0);
  const ticks = values.length === 0 ? [1, 10] : logTicks(low, high, baseOf(unit), wanted);
  const [from = 1, to = 10] = [ticks[0], ticks.at(-1)];
  return { ticks, of: (value) => Math.log(value / from) / Math.log(to / from) };
}

export function scatterPicture(
  { series, xUnit, yUnit, xLabel, yLabel }: ScatterData,
  theme: SceneTheme,
  width: number,
  height: number,
): Picture {
  const plot = { x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: height - TOP - BOTTOM };
  const all = series.flatMap(({ points, curve }) => [...points, ...curve]);
  const across = logAxis(
    all.map(({ x }) => x),
    xUnit,
    Math.max(2, Math.floor(plot.width / 90)),
  );
  const up = logAxis(
    all.map(({ y }) => y),
    yUnit,
    5,
  );
  const place = ({ x, y }: { readonly x: number; readonly y: number }) => ({
    x: plot.x + across.of(x) * plot.width,
    y: plot.y + (1 - up.of(y)) * plot.height,
  });
  const text = { kind: "text", fill: theme.muted } as const;
  const below = { ...text, align: "center" } as const;
  const bottom = plot.y + plot.height;
  const y = (tick: number) => plot.y + (1 - up.of(tick)) * plot.height;
  const shapes: Shape[] = [
    { ...text, x: plot.x, y: TOP - 12, text: yLabel, align: "left" },
    { ...below, x: plot.x + plot.width / 2, y: bottom + 36, text: xLabel },
    ...valueAxis(plot, up.ticks, y, (tick) => value(tick, yUnit), theme),
    ...across.ticks.map((tick): Shape => {
      const written = value(tick, xUnit);
      const x = plot.x + across.of(tick) * plot.width;
      const last = width - theme.measure(written) / 2;
      return { ...below, x: Math.min(x, last), y: bottom + 18, text: written };
    }),
  ];
  const places: { readonly x: number; readonly y: number }[] = [];
  series.forEach(({ points, curve, color, hidden }, index) => {
    const drawn = curve.filter(({ x, y }) => x > 0 && y > 0).map(place);
    if (!hidden && drawn.length > 1) {
      shapes.push({
        kind: "path",
        d: drawn.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${pixels(x)} ${pixels(y)}`).join(""),
        stroke: theme.resolve(color),
        width: 1.5,
      });
    }
    for (const point of points) {
      const at = place(point);
      places.push(hidden ? { x: Number.NaN, y: Number.NaN } : at);
      if (hidden) continue;
      shapes.push({
        kind: "path",
        d: circle(at.x, at.y, RADIUS),
        ...filled(theme, color, index),
        stroke: theme.surface,
        width: 1,
      });
    }
  });
  return {
    shapes,
    marks: places.map(({ x, y }) =>
      Number.isNaN(x) ? null : { outline: circle(x, y, RADIUS + 2), x, y },
    ),
    at: (x, y) => {
      let found: number | null = null;
      let least = REACH;
      places.forEach((each, index) => {
        const distance = Math.hypot(each.x - x, each.y - y);
        // Also true of a hidden point, which is nowhere.
        if (!(distance < least)) return;
        found = index;
        least = distance;
      });
      return found;
    },
  };
}

function circle(x: number, y: number, radius: number): string {
  const [left, size] = [pixels(x - radius), 2 * radius];
  return `M${left} ${pixels(y)}a${radius} ${radius} 0 1 0 ${size} 0a${radius} ${radius} 0 1 0 ${-size} 0z`;
}
