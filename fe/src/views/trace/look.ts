/** How the timeline looks, as the address has it. Pure. */
import { parseWindow, type TimeWindow } from "../../draw";
import type { Mark } from "../../timeline";

/** A list of texts that may hold anything. */
export function parseList(text: string): string[] {
  return text
    .split(",")
    .filter((part) => part !== "")
    .map((part) => part.replace(/%(2c|25)/gi, (code) => (code === "%25" ? "%" : ",")));
}

export function formatList(texts: Iterable<string>): string {
  return [...texts]
    .map((text) => text.replace(/[%,]/g, (sign) => (sign === "%" ? "%25" : "%2C")))
    .join(",");
}

/** The event that is selected: by its number, on the rank that is shown or on another one; or yet to be looked up. */
export type WantedEvent =
  | { readonly type: "row"; readonly worker: string | null; readonly row: number }
  | { readonly type: "longest"; readonly name: string };

const LONGEST = "longest:";

export function parseEvent(text: string): WantedEvent | null {
  if (text.startsWith(LONGEST)) {
    const name = text.slice(LONGEST.length);
    return name === "" ? null : { type: "longest", name };
  }
  const match = /^(?:(.*)~)?(\d{1,10})$/s.exec(text);
  return match ? { type: "row", worker: match[1] ?? null, row: Number(match[2]) } : null;
}

export function formatEvent(worker: string | null, row: number): string {
  return worker === null ? String(row) : `${worker}~${row}`;
}

/** `12000-45000`, or `m12000-45000` for a measure, which asks for no sums. */
export function parseMark(text: string): Mark | null {
  const measure = text.startsWith("m");
  const window = parseWindow(measure ? text.slice(1) : text);
  return window && { kind: measure ? "measure" : "range", window };
}

export function formatMark(mark: Mark | null): string {
  if (!mark) return "";
  return `${mark.kind === "measure" ? "m" : ""}${formatTimes(mark.window)}`;
}

/** In whole ns; times before the start of the trace cannot be written and are its start. */
export function formatTimes({ start, end }: TimeWindow): string {
  return `${Math.max(0, Math.floor(start))}-${Math.max(0, Math.ceil(end))}`;
}

export function parseBookmarks(text: string): TimeWindow[] {
  return text.split(",").flatMap((part) => parseWindow(part) ?? []);
}

export function formatBookmarks(windows: readonly TimeWindow[]): string {
  return windows.map(formatTimes).join(",");
}

/** What was typed as a least duration, in µs; 0 for none. */
export function parseLeast(text: string): number {
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
