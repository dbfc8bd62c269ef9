/** The curve of a device as lines to draw, and what it says about a moment. Pure. */
import type { DeviceMemory, Steps } from "../../api";
import type { CurveLine, CurveSpan } from "../../charts";
import { lastUpTo, type TimeWindow } from "../../draw";

export type LineKey = "allocated" | "reserved" | "total";
const LINE_KEYS: readonly LineKey[] = ["allocated", "reserved", "total"];

type Points = CurveLine["points"];

/** From this share of the device on its size is worth a line: below, the line would press the curve flat. */
const WORTH_THE_ROOM = 0.4;

/**
 * Of a step function in pieces the points in a window. A piece that stands for many records is drawn with all the
 * values given for it, so that its lowest and highest are seen.
 */
export function stepPoints(
  times: readonly number[],
  values: readonly (readonly number[])[],
  before: number,
  { start, end }: TimeWindow,
): Points {
  let held = before;
  const points: [number, number][] = [];
  for (const [i, time] of times.entries()) {
    if (time > end) break;
    if (time >= start && points.length === 0) points.push([start, held]);
    const here = values.map((column) => column[i] ?? held);
    held = here.at(-1) ?? held;
    if (time < start) continue;
    for (const [n, value] of here.entries()) {
      if (n === 0 || value !== here[n - 1]) points.push([time, value]);
    }
  }
  if (points.length === 0) points.push([start, held]);
  points.push([end, held]);
  return points;
}

export function pointsOf(curve: DeviceMemory, key: LineKey, window: TimeWindow): Points {
  if (key === "total") {
    const total = curve.device_bytes ?? 0;
    return [
      [window.start, total],
      [window.end, total],
    ];
  }
  return key === "allocated"
    ? stepPoints(
        curve.time_ns,
        [curve.allocated_min, curve.allocated_max, curve.allocated],
        curve.before.allocated,
        window,
      )
    : stepPoints(
        curve.time_ns,
        [curve.reserved_max, curve.reserved],
        curve.before.reserved,
        window,
      );
}

export function peakReserved(curve: DeviceMemory): number {
  return curve.reserved_max.reduce((most, value) => Math.max(most, value), curve.before.reserved);
}

/** The lines that a device has: nothing is reserved on the CPU, and not every trace knows the device. */
export function availableLines(whole: DeviceMemory): LineKey[] {
  return LINE_KEYS.filter(
    (key) =>
      key === "allocated" ||
      (key === "reserved" ? peakReserved(whole) > 0 : whole.device_bytes !== null),
  );
}

/** Those of the address, or what is worth drawing. */
export function shownLines(wanted: string, whole: DeviceMemory): LineKey[] {
  const available = availableLines(whole);
  const named = wanted.split(",");
  const chosen = available.filter((key) => named.includes(key));
  if (chosen.length > 0) return chosen;
  const most = Math.max(peakReserved(whole), whole.peak.allocated);
  const total = whole.device_bytes !== null && most >= WORTH_THE_ROOM * whole.device_bytes;
  return available.filter((key) => key !== "total" || total);
}

/** What the address says after a line was put in or taken out; the last one stays. */
export function toggleLine(key: string, shown: readonly LineKey[]): string {
  const next = LINE_KEYS.filter((other) => (other === key) !== shown.includes(other));
  return (next.length > 0 ? next : shown).join(",");
}

interface Extent {
  readonly low: number;
  readonly high: number;
}

export function extentOf(lines: readonly Points[]): Extent {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const points of lines) {
    for (const [, value] of points) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? { low, high } : { low: 0, high: 0 };
}

export interface Held {
  /** What holds at the end of the piece; lowest and highest differ where it stands for many records. */
  readonly allocated: number;
  readonly lowest: number;
  readonly highest: number;
  readonly reserved: number;
}

/** What the piece at a moment says. */
export function heldAt(curve: DeviceMemory, time: number): Held {
  const i = lastUpTo(curve.time_ns, time);
  const { allocated, reserved } = curve.before;
  if (i < 0) return { allocated, lowest: allocated, highest: allocated, reserved };
  const last = curve.allocated[i] ?? 0;
  return {
    allocated: last,
    lowest: curve.allocated_min[i] ?? last,
    highest: curve.allocated_max[i] ?? last,
    reserved: curve.reserved[i] ?? 0,
  };
}

/** The steps as stretches of the x axis; none when they are not steps of the program. */
export function stepSpans(steps: Steps | undefined, label: (name: string) => string): CurveSpan[] {
  if (!steps || steps.rule === "none" || steps.rule === "whole_trace") return [];
  return steps.names.map((name, i) => {
    const start = steps.start_ns[i] ?? 0;
    return { start, end: start + (steps.duration_ns[i] ?? 0), label: label(name) };
  });
}

export function spanAt(spans: readonly CurveSpan[], time: number): CurveSpan | undefined {
  return spans.find(({ start, end }) => start <= time && time < end);
}
