import { type Maybe, MISSING, present, significant } from "./number";

export type DurationUnit = "ns" | "us" | "ms" | "s";

/** Nanoseconds in one unit. */
export const NS_PER: Record<DurationUnit, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

export const DURATION_SYMBOL: Record<DurationUnit, string> = {
  ns: "ns",
  us: "µs",
  ms: "ms",
  s: "s",
};

/** The largest unit in which `ns` is at least 1. */
export function durationUnit(ns: number): DurationUnit {
  const magnitude = Math.abs(ns);
  if (magnitude >= NS_PER.s) return "s";
  if (magnitude >= NS_PER.ms) return "ms";
  if (magnitude >= NS_PER.us) return "us";
  return "ns";
}

/** With the unit that suits this value: `177.6 ms`. */
export function duration(ns: Maybe): string {
  if (!present(ns)) return MISSING;
  let unit = durationUnit(ns);
  // 999,999.6 µs rounds to 1,000,000 µs; it is meant to be read as 1 s.
  if (unit !== "s" && Math.round(Math.abs(ns)) >= Math.round(NS_PER[unit] * 999.95)) {
    unit = unit === "ns" ? "us" : unit === "us" ? "ms" : "s";
  }
  return `${significant(ns / NS_PER[unit], 4)} ${DURATION_SYMBOL[unit]}`;
}
