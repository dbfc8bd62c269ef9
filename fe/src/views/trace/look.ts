/** How the timeline looks, as the address has it. Pure. */
import { DERIVED_KINDS, type DerivedKind } from "../../api";
import { parseWindow, type TimeWindow } from "../../draw";
import type { Codec } from "../../state/address";
import type { Mark } from "../../timeline";

export const FLOW_MODES = ["off", "selected", "all"] as const;
export type FlowMode = (typeof FLOW_MODES)[number];

/** The event that is selected: by its number, on the rank that is shown or on another one; or yet to be looked up. */
export type WantedEvent =
  | { readonly type: "row"; readonly worker: string | null; readonly row: number }
  | { readonly type: "longest"; readonly name: string };

const LONGEST = "longest:";

function parseEvent(text: string): WantedEvent | null {
  if (text.startsWith(LONGEST)) {
    const name = text.slice(LONGEST.length);
    return name === "" ? null : { type: "longest", name };
  }
  const match = /^(?:(.*)~)?(\d{1,10})$/s.exec(text);
  return match ? { type: "row", worker: match[1] ?? null, row: Number(match[2]) } : null;
}

function formatEvent(event: WantedEvent | null): string {
  if (event === null) return "";
  if (event.type === "longest") return `${LONGEST}${event.name}`;
  return event.worker === null ? String(event.row) : `${event.worker}~${event.row}`;
}

export const EVENT: Codec<WantedEvent | null> = { parse: parseEvent, format: formatEvent };

/** `12000-45000`, or `m12000-45000` for a measure, which asks for no sums. */
export const MARK: Codec<Mark | null> = {
  parse(text) {
    const measure = text.startsWith("m");
    const window = parseWindow(measure ? text.slice(1) : text);
    return window && { kind: measure ? "measure" : "range", window };
  },
  format: (mark) =>
    mark === null ? "" : `${mark.kind === "measure" ? "m" : ""}${formatTimes(mark.window)}`,
};

/** What is in sight, and what is listed; null for what is usual. */
export const WINDOW: Codec<TimeWindow | null> = {
  parse(text) {
    const [start, end] = /^(\d{1,15})-(\d{1,15})$/.exec(text)?.slice(1).map(Number) ?? [];
    // A moment can be listed, but not looked at.
    return start !== undefined && end !== undefined && start <= end ? { start, end } : null;
  },
  format: (window) => (window === null ? "" : formatTimes(window)),
};

/** In whole ns; times before the start of the trace cannot be written and are its start. */
export function formatTimes({ start, end }: TimeWindow): string {
  return `${Math.max(0, Math.floor(start))}-${Math.max(0, Math.ceil(end))}`;
}

export const BOOKMARKS: Codec<readonly TimeWindow[]> = {
  parse: (text) => text.split(",").flatMap((part) => parseWindow(part) ?? []),
  format: (windows) => windows.map(formatTimes).join(","),
};

/** What was typed as a least duration, in µs; 0 for none. */
export function leastOf(text: string): number {
  const number = Number(text.replace(",", "."));
  return Number.isFinite(number) && number > 0 ? number * 1e3 : 0;
}

/** The step that is in the middle of a window, else the one before it; -1 before the first. */
export function stepAt(starts: readonly number[], { start, end }: TimeWindow): number {
  const middle = (start + end) / 2;
  let found = -1;
  for (const [at, time] of starts.entries()) if (time <= middle) found = at;
  return found;
}

const NO_LANES = "none";

/** Kinds of lanes that are computed; null for what is usual. */
export type WantedLanes = readonly DerivedKind[] | null;

export const DERIVED: Codec<WantedLanes> = {
  parse: (text) =>
    text === "" ? null : DERIVED_KINDS.filter((kind) => text.split(",").includes(kind)),
  format: (kinds) => (kinds === null ? "" : kinds.join(",") || NO_LANES),
};

/** From which slack on slices are dimmed, whole ns; null for none. */
export const SLACK: Codec<number | null> = {
  parse: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : null),
  format: (ns) => (ns === null ? "" : String(Math.round(ns))),
};
