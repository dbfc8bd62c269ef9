import { BYTES_PER, bytes, byteUnit, rate, rateUnit, sizeOf } from "./bytes";
import { DURATION_SYMBOL, duration, durationUnit, NS_PER } from "./duration";
import { flop, flopName, flopUnit } from "./flop";
import {
  count,
  decimal,
  fraction,
  inColumn,
  type Maybe,
  MISSING,
  percent,
  present,
} from "./number";

/** The API's unit names. */
export type Unit =
  | "ns"
  | "bytes"
  | "bytes_per_second"
  | "flop"
  | "flop_per_second"
  | "percent"
  | "fraction"
  | "count";

/** One value on its own, with its unit. */
export function value(number: Maybe, unit: Unit | null): string {
  switch (unit) {
    case "ns":
      return duration(number);
    case "bytes":
      return bytes(number);
    case "bytes_per_second":
      return rate(number);
    case "flop":
      return flop(number);
    case "flop_per_second":
      return flop(number, "/s");
    case "percent":
      return percent(number);
    case "fraction":
      return fraction(number);
    default:
      return count(number);
  }
}

/** The value as it was measured, for tooltips: `177,592,000.5 ns`. */
export function exact(number: Maybe, unit: Unit | null): string {
  if (!present(number)) return MISSING;
  switch (unit) {
    case "ns":
      return `${decimal(number, 3)} ns`;
    case "bytes":
      return `${decimal(number, 3)} bytes`;
    case "bytes_per_second":
      return `${decimal(number, 3)} bytes/s`;
    case "flop":
      return `${decimal(number, 0)} FLOP`;
    case "flop_per_second":
      return `${decimal(number, 0)} FLOP/s`;
    case "percent":
      return `${decimal(number, 6)} %`;
    case "fraction":
      return `${decimal(number * 100, 6)} %`;
    default:
      return decimal(number, 6);
  }
}

interface ColumnFormat {
  /** The unit for the column's header, or null. */
  readonly symbol: string | null;
  readonly text: (number: Maybe) => string;
  /** The same with the unit behind each number. */
  readonly whole: (number: Maybe) => string;
}

/**
 * One unit for a whole column, so that digits can be compared down the column; none where nothing in it has one.
 * The unit suits `scale`: the largest value of the column, unless the caller knows of others that it is read with.
 */
export function columnFormat(
  unit: Unit | null,
  values: ArrayLike<unknown>,
  scale = largestOf(values),
): ColumnFormat {
  if (scale === 0 && unit !== "percent" && unit !== "fraction") {
    const text = (number: Maybe) => (present(number) ? count(number) : MISSING);
    return { symbol: null, text, whole: text };
  }
  switch (unit) {
    case "ns": {
      const shown = durationUnit(scale);
      const decimals = shown === "ns" ? 0 : shown === "us" ? 1 : 3;
      return inUnits(DURATION_SYMBOL[shown], NS_PER[shown], decimals);
    }
    case "bytes": {
      const shown = byteUnit(scale);
      return inUnits(shown, BYTES_PER[shown], shown === "B" ? 0 : 2);
    }
    case "bytes_per_second": {
      const shown = rateUnit(scale);
      return inUnits(shown, sizeOf(shown), shown === "B/s" ? 0 : 2);
    }
    case "flop":
    case "flop_per_second": {
      const shown = flopUnit(scale);
      const symbol = flopName(shown) + (unit === "flop" ? "" : "/s");
      return inUnits(symbol, 1000 ** shown, shown ? 2 : 0);
    }
    case "percent":
      return { symbol: "%", text: (number) => percent(number).replace(/ %$/, ""), whole: percent };
    case "fraction":
      return {
        symbol: "%",
        text: (number) => fraction(number).replace(/ %$/, ""),
        whole: fraction,
      };
    default: {
      const text = hasFractions(values) ? twoDecimals : count;
      return { symbol: null, text, whole: text };
    }
  }
}

function inUnits(symbol: string, size: number, decimals: number): ColumnFormat {
  const text = (number: Maybe) => (present(number) ? inColumn(number / size, decimals) : MISSING);
  return {
    symbol,
    text,
    whole: (number) => (present(number) ? `${text(number)} ${symbol}` : MISSING),
  };
}

/** The same, with the unit behind each number: for tables of few rows, whose heads have no unit. */
export function inOneUnit(
  unit: Unit,
  values: ArrayLike<unknown>,
  scale = largestOf(values),
): (number: Maybe) => string {
  return columnFormat(unit, values, scale).whole;
}

function hasFractions(values: ArrayLike<unknown>): boolean {
  return Array.prototype.some.call(values, (item) => typeof item === "number" && item % 1 !== 0);
}

function twoDecimals(number: Maybe): string {
  if (!present(number)) return MISSING;
  return number > 0 && number < 0.005 ? `<${decimal(0.01, 2)}` : decimal(number, 2, true);
}

/** The largest magnitude in a column; 0 when it has no numbers. */
export function largestOf(values: ArrayLike<unknown>): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    const item = values[i];
    if (typeof item === "number" && Number.isFinite(item))
      largest = Math.max(largest, Math.abs(item));
  }
  return largest;
}
