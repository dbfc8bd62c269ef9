/** Above: both sides of each item and their running sums. Below: what differs, one by one and accumulated. Pure. */
import type { Unit } from "../../format";
import { amountAxis, centerOf, columnAt, columnBox, heightOf, valueAxis } from "../axes";
import { fitted, head } from "../labels";
import {
  type Box,
  boxPath,
  filled,
  type Picture,
  pixels,
  type SceneTheme,
  type Shape,
} from "../scene";
import type { PairedBarsProps } from "../types";

export type PairedPart =
  | "before"
  | "after"
  | "beforeSum"
  | "afterSum"
  | "difference"
  | "accumulated";

interface PairedData extends Pick<PairedBarsProps, "items" | "start"> {
  readonly unit: Unit;
  /** What is not drawn. */
  readonly hidden: ReadonlySet<string>;
}

export interface Sums {
  readonly before: number;
  readonly after: number;
}

const NOTHING: Sums = { before: 0, after: 0 };

/** For each item what it and all before it add up to. */
export function runningSums(items: readonly Sums[], start: Sums = NOTHING): Sums[] {
  let sums = start;
  return items.map(({ before, after }) => {
    sums = { before: sums.before + before, after: sums.after + after };
    return sums;
  });
}

export const PAIRED_COLORS = {
  before: "var(--series-rest)",
  after: "var(--series-1)",
  accumulated: "var(--series-2)",
  worse: "var(--worse)",
  better: "var(--better)",
} as const;

/** Heights of the two plots, and of what is between and below them. */
const TOP = 10;
const UPPER = 190;
const GAP = 34;
const LOWER = 120;
/** Turned labels hang down this far; upright ones leave the rest to the upper plot. */
const LABELS = 92;
const UPRIGHT_LABELS = 30;
export const PAIRED_HEIGHT = TOP + UPPER + GAP + LOWER + LABELS;
/** For the numbers of the two axes. */
const LEFT = 78;
const RIGHT = 76;
/** Narrower than this, labels are turned, and cut after so many characters. */
const UPRIGHT = 96;
const TURNED = 15;
const DEGREES = 38;
/** Closer than this, turned labels would lie over each other: across their slope 13 pixels are left. */
const LINE = 22;
/** Between two upright labels. */
const BETWEEN = 10;
const WIDEST = 28;
const WIDEST_DIFFERENCE = 36;

interface Plots {
  readonly upper: Box;
  readonly lower: Box;
  /** Of one item. */
  readonly pitch: number;
  readonly upright: boolean;
}

export function pairedPlots(items: number, width: number): Plots {
  const plot = { x: LEFT, width: Math.max(8, width - LEFT - RIGHT) };
  const pitch = plot.width / Math.max(1, items);
  const upright = pitch >= UPRIGHT;
  const height = upright ? UPPER + LABELS - UPRIGHT_LABELS : UPPER;
  const upper = { ...plot, y: TOP, height };
  return { upper, lower: { ...plot, y: TOP + height + GAP, height: LOWER }, pitch, upright };
}

export function pairedPicture(data: PairedData, theme: SceneTheme, width: number): Picture {
  const { items } = data;
  const plots = pairedPlots(items.length, width);
  const { upper, lower } = plots;
  const sums = runningSums(items, data.start);
  const both = { ...upper, height: lower.y + lower.height - upper.y };
  return {
    shapes: [
      ...upperShapes(data, sums, plots, theme),
      ...lowerShapes(data, sums, plots, theme),
      ...labels(data, plots, theme),
    ],
    marks: items.map((_, index) => ({
      outline: boxPath(columnBox(both, items.length, index)),
      x: centerOf(both, items.length, index),
      y: both.y,
    })),
    // Anywhere above or below an item means that item: its bars may be a pixel high.
    at: (x) => columnAt(both, items.length, x),
  };
}

function upperShapes(
  { items, unit, hidden }: PairedData,
  sums: readonly Sums[],
  { upper, pitch }: Plots,
  theme: SceneTheme,
): Shape[] {
  const sides = (["before", "after"] as const).filter((side) => !hidden.has(side));
  const totals = (["before", "after"] as const).filter((side) => !hidden.has(`${side}Sum`));
  const axis = amountAxis(unit, highest(items, sides));
  const sumAxis = amountAxis(unit, highest(sums, totals));
  const y = heightOf(upper, 0, axis.max);
  const sumY = heightOf(upper, 0, sumAxis.max);
  const shapes = [
    ...valueAxis(upper, axis.ticks, y, axis.label, theme),
    ...valueAxis(upper, sumAxis.ticks, sumY, sumAxis.label, theme, "right"),
  ];
  const room = Math.min(WIDEST * 2, pitch * 0.8);
  const bar = sides.length > 0 ? Math.min(WIDEST, room / sides.length) : 0;
  items.forEach((item, index) => {
    const left = centerOf(upper, items.length, index) - (bar * sides.length) / 2;
    sides.forEach((side, s) => {
      // The least bar is still a bar.
      const height = Math.max(1, y(0) - y(item[side]));
      const color = filled(theme, PAIRED_COLORS[side], s);
      const width = Math.max(0.5, bar * 0.94);
      shapes.push({ kind: "rect", x: left + s * bar, y: y(0) - height, width, height, ...color });
    });
  });
  for (const side of totals) {
    const points = sums.map((sum, index) => [centerOf(upper, sums.length, index), sumY(sum[side])]);
    shapes.push({
      kind: "path",
      d: `M${points.map((point) => point.join(" ")).join("L")}`,
      stroke: theme.resolve(PAIRED_COLORS[side]),
      width: 1.5,
      dashed: true,
    });
  }
  return shapes;
}

function lowerShapes(
  { items, unit, hidden }: PairedData,
  sums: readonly Sums[],
  { lower, pitch }: Plots,
  theme: SceneTheme,
): Shape[] {
  const differences = items.map(({ before, after }) => after - before);
  const accumulated = sums.map(({ before, after }) => after - before);
  const shown = [
    ...(hidden.has("difference") ? [] : differences),
    ...(hidden.has("accumulated") ? [] : accumulated),
  ];
  const extreme = (pick: (a: number, b: number) => number) => shown.reduce((a, b) => pick(a, b), 0);
  const axis = amountAxis(unit, extreme(Math.max), 3, extreme(Math.min));
  const y = heightOf(lower, axis.min, axis.max);
  const shapes = valueAxis(lower, axis.ticks, y, axis.label, theme);
  if (!hidden.has("difference")) {
    const bar = Math.min(WIDEST_DIFFERENCE, pitch * 0.8);
    differences.forEach((difference, index) => {
      const better = difference <= 0;
      shapes.push({
        kind: "rect",
        x: centerOf(lower, items.length, index) - bar / 2,
        y: Math.min(y(0), y(difference)),
        width: bar,
        height: Math.abs(y(difference) - y(0)),
        ...filled(theme, better ? PAIRED_COLORS.better : PAIRED_COLORS.worse, better ? 0 : 2),
      });
    });
  }
  if (!hidden.has("accumulated") && accumulated.length > 0) {
    // From the middle of one item to the middle of the next, with the step halfway.
    const middle = (index: number) => pixels(centerOf(lower, items.length, index));
    const at = (sum: number) => pixels(y(sum));
    const steps = accumulated.map((sum, index) =>
      index === 0
        ? `M${middle(0)} ${at(sum)}`
        : `H${pixels((middle(index - 1) + middle(index)) / 2)}V${at(sum)}`,
    );
    const line = `${steps.join("")}H${middle(items.length - 1)}`;
    const color = theme.resolve(PAIRED_COLORS.accumulated);
    const d = `${line}V${at(0)}H${middle(0)}Z`;
    shapes.push(
      { kind: "path", d, fill: color, opacity: 0.12 },
      { kind: "path", d: line, stroke: color, width: 2 },
    );
  }
  return shapes;
}

function labels({ items }: PairedData, plots: Plots, theme: SceneTheme): Shape[] {
  const { lower, pitch, upright } = plots;
  const every = Math.max(1, Math.ceil(LINE / pitch));
  return items.flatMap(({ label }, index): Shape[] => {
    if (index % every !== 0) return [];
    const x = centerOf(lower, items.length, index);
    const y = lower.y + lower.height + 18;
    return upright
      ? [
          {
            kind: "text",
            x,
            y,
            // Measured as it is drawn: letters are not equally wide.
            text: fitted(label, pitch - BETWEEN, theme.measure, head),
            align: "center",
            fill: theme.text,
          },
        ]
      : [
          {
            kind: "text",
            x: x + 4,
            y: y - 4,
            text: head(label, TURNED),
            align: "right",
            fill: theme.text,
            turned: DEGREES,
          },
        ];
  });
}

function highest(sums: readonly Sums[], sides: readonly ("before" | "after")[]): number {
  return sums.reduce((most, sum) => Math.max(most, ...sides.map((side) => sum[side])), 0);
}
