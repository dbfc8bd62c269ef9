import { type Axis, type ChartTheme, span, type TimeWindow, timeAxis } from "../../draw";
import type { CurveLine, CurveMark, CurveSpan } from "../types";
import { base, type ChartOption, plainText } from "./parts";

/** Pixels around the plot. Fixed, so that a place in the picture is a moment without asking the engine. */
export const PLOT = { left: 76, right: 32, top: 26, bottom: 26 } as const;

const TICK_PIXELS = 110;
/** Spans narrower than this are not marked: they would be a grey area. */
const NARROWEST_SPAN = 5;

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

export function timeCurveOption(
  data: TimeCurveData,
  theme: ChartTheme,
  width: number,
): ChartOption {
  const { lines, window, y, marks, cursor } = data;
  const plotWidth = Math.max(1, width - PLOT.left - PLOT.right);
  const x = timeAxis(window, Math.max(2, Math.floor(plotWidth / TICK_PIXELS)));
  const spans = shownSpans(data.spans, window, plotWidth);
  const clip = (time: number) => Math.min(window.end, Math.max(window.start, time));
  const names = new Map(
    spans.map(({ start, end, label }) => [(clip(start) + clip(end)) / 2, label] as const),
  );
  const edges = [...new Set(spans.flatMap(({ start, end }) => [start, end]))].filter(
    (time) => time > window.start && time < window.end,
  );
  const axisLine = { onZero: false, lineStyle: { color: theme.line } };

  return {
    ...base(theme),
    grid: { ...PLOT, outerBoundsMode: "none" },
    xAxis: [
      {
        type: "value",
        min: x.min,
        max: x.max,
        axisLine,
        axisTick: { customValues: [...x.ticks], lineStyle: { color: theme.line } },
        axisLabel: {
          customValues: [...x.ticks],
          color: theme.muted,
          hideOverlap: true,
          formatter: (tick: number) => x.label(tick),
        },
        splitLine: { show: false },
      },
      {
        type: "value",
        position: "top",
        min: x.min,
        max: x.max,
        show: spans.length > 0,
        axisLine: { show: false },
        axisTick: { customValues: edges, length: 4, lineStyle: { color: theme.muted } },
        axisLabel: {
          customValues: [...names.keys()],
          color: theme.muted,
          fontSize: 11,
          hideOverlap: true,
          formatter: (at: number) => plainText(names.get(at) ?? ""),
        },
        splitLine: { show: true, lineStyle: { color: theme.line, type: "dashed" } },
      },
    ],
    yAxis: {
      type: "value",
      min: y.min,
      max: y.max,
      axisTick: { show: false, customValues: [...y.ticks] },
      axisLabel: {
        customValues: [...y.ticks],
        color: theme.muted,
        formatter: (tick: number) => y.label(tick),
      },
      splitLine: { lineStyle: { color: theme.line, opacity: 0.6 } },
    },
    series: [
      ...lines.map(({ key, label, points, color, area, dashed }) => ({
        type: "line" as const,
        id: key,
        name: label,
        step: "end" as const,
        showSymbol: false,
        silent: true,
        lineStyle: {
          color: theme.resolve(color),
          width: 1.5,
          type: dashed ? ("dashed" as const) : ("solid" as const),
        },
        ...(area
          ? { areaStyle: { color: theme.resolve(color), opacity: 0.16, origin: "start" as const } }
          : {}),
        data: points.map(([time, value]) => [time, value]),
      })),
      ...(cursor === null || cursor < window.start || cursor > window.end
        ? []
        : [
            {
              type: "line" as const,
              id: "cursor",
              silent: true,
              showSymbol: false,
              lineStyle: { color: theme.resolve("var(--accent)"), width: 1.5 },
              data: [
                [cursor, y.min],
                [cursor, y.max],
              ],
            },
          ]),
      ...marks
        .filter(({ time }) => time >= window.start && time <= window.end)
        .map(({ time, value, label }, i) => ({
          type: "line" as const,
          id: `mark${i}`,
          silent: true,
          symbol: "circle",
          symbolSize: 8,
          itemStyle: { color: theme.surface, borderColor: theme.text, borderWidth: 2 },
          label: {
            show: true,
            position: "top",
            distance: 5,
            // Away from the nearer edge.
            align: pixelOf(time, window, plotWidth) > plotWidth / 2 ? "right" : "left",
            color: theme.text,
            fontWeight: "bold" as const,
            formatter: plainText(label),
          },
          data: [[time, value]],
        })),
    ] as NonNullable<ChartOption["series"]>,
  };
}
