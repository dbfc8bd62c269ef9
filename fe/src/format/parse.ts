/** What a person types into a field: a number, with a unit or in the one the field names. */
import { type DurationUnit, NS_PER } from "./duration";

const WRITTEN = /^([+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([a-zµ]*)$/i;

/** Whole nanoseconds, or null for what is no time: `226.9 ms`, `1,500us`, `12`. */
export function parseDuration(text: string, unit: DurationUnit): number | null {
  const written = numberAndUnit(text);
  if (!written) return null;
  const name = written.unit === "" ? unit : written.unit.toLowerCase().replace("µ", "u");
  return name in NS_PER ? Math.round(written.number * NS_PER[name as DurationUnit]) : null;
}

function numberAndUnit(text: string): { number: number; unit: string } | null {
  const match = WRITTEN.exec(text.trim());
  if (!match) return null;
  const number = Number((match[1] ?? "").replaceAll(",", ""));
  return Number.isFinite(number) ? { number, unit: match[2] ?? "" } : null;
}
