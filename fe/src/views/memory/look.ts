/** What the address says about this view. Pure. */
import type { DeviceMemory } from "../../api";
import { formatWindow, NARROWEST_NS, parseWindow, type TimeWindow, within } from "../../draw";
import type { Codec } from "../../state/address";
import { anchor } from "../../ui";

export const TABS = ["alive", "holders", "events", "operators", "modules"] as const;
/** Where the tables are on the page. */
export const TABLES = anchor("memory-tables");
export type Tab = (typeof TABS)[number];

/** That are asked for at a moment. */
export const MOST_BLOCKS = 10_000;

/** From the first record to the last; of a single one, too, there is a width to draw. */
export function wholeOf(start: number, end: number): TimeWindow {
  return { start, end: Math.max(end, start + NARROWEST_NS) };
}

/** In ns since the start of the trace; null for none. */
export const MOMENT: Codec<number | null> = {
  parse: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null),
  format: (time) => (time === null ? "" : String(time)),
};

/** A part of the recording; null for all of it, `unknown` for what is no range. */
export const RANGE: Codec<TimeWindow | "unknown" | null> = {
  parse: (text) => (text === "" ? null : (parseWindow(text) ?? "unknown")),
  format: (range) => (range === null || range === "unknown" ? (range ?? "") : formatWindow(range)),
};

/** A moment inside the recording, or null. */
export function momentWithin(time: number | null, whole: TimeWindow): number | null {
  return time !== null && time >= whole.start && time <= whole.end ? time : null;
}

/** The part of the recording to show; null for all of it, and for what is no part of it. */
export function rangeWithin(
  wanted: TimeWindow | "unknown" | null,
  whole: TimeWindow,
): TimeWindow | null {
  return wanted === null || wanted === "unknown" ? null : within(wanted, whole);
}

/** The moment whose blocks are listed. */
export interface Moment {
  readonly kind: "cursor" | "peak" | "peakOfRange";
  readonly time: number;
}

/** The chosen one, else the peak of what is shown; null while the peak of the range is not known. */
export function momentOf(
  cursor: number | null,
  range: TimeWindow | null,
  whole: DeviceMemory,
  here: DeviceMemory | null,
): Moment | null {
  if (cursor !== null) return { kind: "cursor", time: cursor };
  if (range === null) return { kind: "peak", time: whole.peak.time_ns };
  if (here === null) return null;
  const { time_ns } = here.peak_in_range;
  // What was in use already when the range began was reached before it.
  return time_ns === whole.peak.time_ns
    ? { kind: "peak", time: time_ns }
    : { kind: "peakOfRange", time: Math.max(time_ns, range.start) };
}

/** The range of a link that this trace has nothing of. */
export function isForeign(wanted: TimeWindow | "unknown" | null, whole: TimeWindow): boolean {
  if (wanted === null) return false;
  return wanted === "unknown" || wanted.end <= whole.start || wanted.start >= whole.end;
}
