/** Stacked columns: from merged items and a size to shapes. Pure. */
import type { Axis } from "../../draw";
import type { Unit } from "../../format";
import {
  amountAxis,
  centerOf,
  columnAt,
  columnBox,
  columnLabels,
  heightOf,
  momentTicks,
  valueAxis,
} from "../axes";
import type { Bucket } from "../merge";
import { type Box, boxPath, filled, type Picture, type SceneTheme, type Shape } from "../scene";

interface ColumnsData {
  readonly buckets: readonly Bucket[];
  /** Of the parts of a bucket. */
  readonly colors: readonly string[];
  readonly mode: "absolute" | "percent";
  readonly unit: Unit;
  /** What the first item of a bucket is called. */
  readonly label: (bucket: Bucket) => string;
  /** When each bucket is (ns), in order: times that are round stand below, not labels of buckets. */
  readonly times?: readonly number[] | undefined;
  /** The position that is marked, or null. */
  readonly selected: number | null;
  readonly xLabel: string;
}

const MARGIN = { left: 68, right: 10, top: 16, bottom: 40 };
const WIDEST = 56;
const PERCENT: Axis = {
  min: 0,
  max: 1,
  ticks: [0, 0.25, 0.5, 0.75, 1],
  label: (tick) => `${tick * 100} %`,
};

export function columnsPlot(width: number, height: number): Box {
  return {
    x: MARGIN.left,
    y: MARGIN.top,
    width: Math.max(1, width - MARGIN.left - MARGIN.right),
    height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
  };
}

export function columnsPicture(data: ColumnsData, plot: Box, theme: SceneTheme): Picture {
  const { buckets } = data;
  return {
    shapes: columnsScene(data, plot, theme),
    marks: buckets.map((_, index) => ({
      outline: boxPath(columnBox(plot, buckets.length, index)),
      x: centerOf(plot, buckets.length, index),
      y: plot.y,
    })),
    at: (x) => columnAt(plot, buckets.length, x),
  };
}

export function columnsScene(data: ColumnsData, plot: Box, theme: SceneTheme): Shape[] {
  const { buckets, mode, colors } = data;
  const highest = buckets.reduce((most, { max }) => Math.max(most, max), 0);
  const axis = mode === "percent" ? PERCENT : amountAxis(data.unit, highest);
  const y = heightOf(plot, 0, axis.max);
  const bottom = plot.y + plot.height;
  const shapes = valueAxis(plot, axis.ticks, y, axis.label, theme);
  const fills = colors.map((color, index) => filled(theme, color, index));

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
        ...fills[series],
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
        y: plot.y,
        width: bar + 3,
        height: plot.height,
        stroke: theme.text,
      });
    }
    if (bucket.flagged > 0) {
      shapes.push({
        kind: "flag",
        x: center,
        y: y(end) - 3,
        fill: theme.resolve("var(--danger)"),
      });
    }
  });

  const { times = [] } = data;
  const below =
    times.length > 1
      ? momentTicks(times, plot, theme)
      : columnLabels(buckets.map(data.label), plot, bottom + 16, theme);
  shapes.push(...below, {
    kind: "text",
    x: plot.x + plot.width / 2,
    y: bottom + 34,
    text: data.xLabel,
    align: "center",
    fill: theme.muted,
  });
  return shapes;
}
