import type { ChartTheme } from "../../draw";
import { change, percentChange, value } from "../../format";
import type { PairedBarsProps } from "../types";
import { base, type ChartOption, plainText, tooltip } from "./parts";

export type PairedBarsData = Pick<PairedBarsProps, "items" | "start" | "names" | "unit">;

export interface Sums {
  readonly before: number;
  readonly after: number;
}

/** For each item what it and all before it add up to. */
export function runningSums(items: readonly Sums[], start: Sums = NOTHING): Sums[] {
  let sums = start;
  return items.map(({ before, after }) => {
    sums = { before: sums.before + before, after: sums.after + after };
    return sums;
  });
}

/** Names of parts differ at their beginning, other than those of kernels. */
function head(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

const NOTHING: Sums = { before: 0, after: 0 };
/** Heights of the two pictures, and of what is between and below them. */
const TOP = 28;
const UPPER = 190;
const GAP = 34;
const LOWER = 120;
/** Turned labels hang down this far; upright ones leave the rest to the upper picture. */
const LABELS = 92;
const UPRIGHT_LABELS = 30;
export const PAIRED_HEIGHT = TOP + UPPER + GAP + LOWER + LABELS;
/** For the numbers of the two axes. */
const LEFT = 78;
const RIGHT = 76;
/** As the lines are drawn. */
const DASHES = "path://M0,4H5V6H0zM8,4H13V6H8zM16,4H21V6H16z";
const LINE = "path://M0,4H20V6H0z";
/** Narrower than this, labels are turned, and cut after so many characters. */
const UPRIGHT = 96;
const TURNED = 15;
/** Between two upright labels. */
const BETWEEN = 10;

/**
 * Above: both sides of each item as bars, their running sums as lines on the axis at the right.
 * Below: the difference of each item as a bar, accumulated as a stepped line.
 */
export function pairedBarsOption(
  { items, start, names, unit }: PairedBarsData,
  theme: ChartTheme,
  width: number,
): ChartOption {
  const sums = runningSums(items, start);
  const colors = {
    before: theme.resolve("var(--series-rest)"),
    after: theme.resolve("var(--series-1)"),
    accumulated: theme.resolve("var(--series-2)"),
    worse: theme.resolve("var(--danger)"),
    better: theme.resolve("var(--good)"),
  };
  const room = Math.max(8, (width - LEFT - RIGHT) / Math.max(1, items.length));
  const upright = room >= UPRIGHT;
  const upper = upright ? UPPER + LABELS - UPRIGHT_LABELS : UPPER;
  const label = (index: number) => items[index]?.label ?? "";
  const categories = items.map((_, index) => String(index));
  const axisLine = { lineStyle: { color: theme.line } };
  const amounts = {
    color: theme.muted,
    formatter: (tick: number) => (tick === 0 ? "0" : value(tick, unit)),
  };
  const grid = { left: LEFT, right: RIGHT, outerBoundsMode: "none" } as const;
  const x = {
    type: "category",
    data: categories,
    axisTick: { show: false },
    axisLine: { ...axisLine, onZero: true },
  } as const;
  const y = {
    type: "value",
    axisLabel: amounts,
    nameTextStyle: { color: theme.muted },
    splitLine: { lineStyle: { color: theme.line, opacity: 0.6 } },
  } as const;
  const area = { type: "value", min: 0, max: 1, show: false } as const;
  const line = { type: "line", symbol: "none", silent: true } as const;
  // A click anywhere above an item means that item: its bars may be a pixel high. On axes of its own, because bars of
  // one axis share the room.
  const clickable = {
    type: "bar",
    barWidth: "100%",
    z: 0,
    cursor: "pointer",
    tooltip: { show: false },
    itemStyle: { color: "transparent" },
    emphasis: { itemStyle: { color: "transparent" } },
    data: items.map(() => 1),
  } as const;
  return {
    ...base(theme),
    grid: [
      { ...grid, top: TOP, height: upper },
      { ...grid, top: TOP + upper + GAP, height: LOWER },
    ],
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    legend: {
      top: 0,
      left: LEFT,
      icon: "roundRect",
      itemWidth: 14,
      itemHeight: 6,
      textStyle: { color: theme.text },
      inactiveColor: theme.muted,
      data: [
        { name: names.before },
        { name: names.after },
        { name: names.beforeSum, icon: DASHES },
        { name: names.afterSum, icon: DASHES },
        { name: names.difference },
        { name: names.accumulated, icon: LINE },
      ],
    },
    tooltip: {
      ...tooltip(theme, "axis", (index) => {
        const { label: title = "", details, before = 0, after = 0 } = items[index] ?? {};
        const sum = sums[index] ?? NOTHING;
        const percent = percentChange(before, after);
        return {
          title,
          subtitle: details,
          lines: [
            { label: names.before, value: value(before, unit), color: colors.before },
            { label: names.after, value: value(after, unit), color: colors.after },
            {
              label: names.difference,
              value: change(after - before, unit),
              share: percent === null ? "" : change(percent, "percent"),
              color: after > before ? colors.worse : colors.better,
            },
            {
              label: names.accumulated,
              value: change(sum.after - sum.before, unit),
              color: colors.accumulated,
            },
          ],
        };
      }),
      axisPointer: { type: "shadow", shadowStyle: { color: theme.line, opacity: 0.35 } },
    },
    xAxis: [
      { ...x, gridIndex: 0, axisLabel: { show: false } },
      {
        ...x,
        gridIndex: 1,
        position: "bottom",
        axisLine: { ...axisLine, onZero: false },
        triggerEvent: true,
        axisLabel: {
          color: theme.text,
          interval: 0,
          hideOverlap: room < 14,
          rotate: upright ? 0 : 38,
          // Upright, the text is measured as it is drawn: letters are not equally wide.
          ...(upright ? { width: room - BETWEEN, overflow: "truncate", ellipsis: "…" } : {}),
          formatter: (position: string) =>
            plainText(upright ? label(Number(position)) : head(label(Number(position)), TURNED)),
        },
      },
      { ...x, gridIndex: 0, show: false },
      { ...x, gridIndex: 1, show: false },
    ],
    yAxis: [
      { ...y, gridIndex: 0 },
      { ...y, gridIndex: 0, position: "right", splitLine: { show: false } },
      { ...area, gridIndex: 0 },
      { ...y, gridIndex: 1, splitNumber: 3 },
      { ...area, gridIndex: 1 },
    ],
    series: [
      { ...clickable, id: "upper", xAxisIndex: 2, yAxisIndex: 2 },
      { ...clickable, id: "lower", xAxisIndex: 3, yAxisIndex: 4 },
      {
        type: "bar",
        id: "before",
        name: names.before,
        xAxisIndex: 0,
        yAxisIndex: 0,
        barMaxWidth: 28,
        barMinHeight: 1,
        cursor: "pointer",
        itemStyle: { color: colors.before },
        data: items.map(({ before }) => before),
      },
      {
        type: "bar",
        id: "after",
        name: names.after,
        xAxisIndex: 0,
        yAxisIndex: 0,
        barMaxWidth: 28,
        barMinHeight: 1,
        barGap: "8%",
        cursor: "pointer",
        itemStyle: { color: colors.after },
        data: items.map(({ after }) => after),
      },
      {
        ...line,
        id: "beforeSum",
        name: names.beforeSum,
        xAxisIndex: 0,
        yAxisIndex: 1,
        lineStyle: { color: colors.before, width: 1.5, type: "dashed" },
        itemStyle: { color: colors.before },
        data: sums.map(({ before }) => before),
      },
      {
        ...line,
        id: "afterSum",
        name: names.afterSum,
        xAxisIndex: 0,
        yAxisIndex: 1,
        lineStyle: { color: colors.after, width: 1.5, type: "dashed" },
        itemStyle: { color: colors.after },
        data: sums.map(({ after }) => after),
      },
      {
        type: "bar",
        id: "difference",
        name: names.difference,
        xAxisIndex: 1,
        yAxisIndex: 3,
        barMaxWidth: 36,
        cursor: "pointer",
        itemStyle: { color: colors.worse },
        data: items.map(({ before, after }) => ({
          value: after - before,
          itemStyle: { color: after > before ? colors.worse : colors.better },
        })),
      },
      {
        ...line,
        id: "accumulated",
        name: names.accumulated,
        step: "middle",
        xAxisIndex: 1,
        yAxisIndex: 3,
        lineStyle: { color: colors.accumulated, width: 2 },
        itemStyle: { color: colors.accumulated },
        areaStyle: { color: colors.accumulated, opacity: 0.12 },
        data: sums.map(({ before, after }) => after - before),
      },
    ],
  };
}
