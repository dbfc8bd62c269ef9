/** A stretch of time, as two fields have it. Pure. */
import type { Nanoseconds } from "../../api";
import type { TimeWindow } from "../../draw";

const NS_PER_MS = 1e6;

/** What a field shows: milliseconds, to the nanosecond. */
export function milliseconds(ns: Nanoseconds): string {
  return String(ns / NS_PER_MS);
}

/** A typed time, as nanoseconds; null when it is no time. Comma and point both divide. */
export function fromMilliseconds(text: string): Nanoseconds | null {
  const plain = text.trim().replace(",", ".");
  if (!/^\d+(\.\d*)?$|^\.\d+$/.test(plain)) return null;
  return Math.round(Number(plain) * NS_PER_MS);
}

/** Of two fields, of which an empty one means the end of the trace; null when both are, `wrong` when one is no time. */
export function windowOf(
  from: string,
  to: string,
  end_ns: Nanoseconds,
): TimeWindow | null | "wrong" {
  if (from.trim() === "" && to.trim() === "") return null;
  const start = from.trim() === "" ? 0 : fromMilliseconds(from);
  const end = to.trim() === "" ? Math.round(end_ns) : fromMilliseconds(to);
  if (start === null || end === null || start > end) return "wrong";
  return { start, end };
}
