import { type Maybe, MISSING, present, significant } from "./number";

/** A power of 1000. */
type FlopUnit = number;

const PREFIXES = ["", "K", "M", "G", "T", "P", "E"];

/** The largest unit in which the amount is at least 1. */
export function flopUnit(amount: number): FlopUnit {
  return PREFIXES.findLastIndex((_, power) => power === 0 || Math.abs(amount) >= 1000 ** power);
}

export function flopName(unit: FlopUnit): string {
  return `${PREFIXES[unit]}FLOP`;
}

/** With the unit that suits it: `777.6 GFLOP`, `11.05 TFLOP/s`. */
export function flop(amount: Maybe, per = ""): string {
  if (!present(amount)) return MISSING;
  const unit = flopUnit(amount);
  return `${significant(amount / 1000 ** unit, 4)} ${flopName(unit)}${per}`;
}
