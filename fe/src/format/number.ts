let locale = "en";
const formats = new Map<string, Intl.NumberFormat>();

/** What is shown where there is no value. */
export const MISSING = "–";

/** The app calls this once, with the locale of its message table. */
export function setNumberLocale(name: string): void {
  locale = name;
  formats.clear();
}

export function numberLocale(): string {
  return locale;
}

/** With exactly or at most `decimals` digits after the point. */
export function decimal(value: number, decimals: number, fixed = false): string {
  const key = `${decimals}${fixed}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat(locale, {
      minimumFractionDigits: fixed ? decimals : 0,
      maximumFractionDigits: decimals,
    });
    formats.set(key, format);
  }
  // What rounds to 0 would be shown as "-0", and the hyphen is shorter than the sign of a difference.
  return format
    .format(value)
    .replace(/^-(?=[0.,]*$)/, "")
    .replace("-", "−");
}

/** `digits` significant digits, but never fewer digits than the integer part has: 12,345 stays 12,345. */
export function significant(value: number, digits: number): string {
  const magnitude = Math.abs(value);
  const integerDigits = magnitude < 1 ? 1 : Math.floor(Math.log10(magnitude)) + 1;
  return decimal(value, Math.max(0, digits - integerDigits));
}

/** Of what stands in a column. */
const DIGITS = 3;
const MOST_DECIMALS = 6;

/** With so many decimals that they line up down a column; a number that would have fewer than three digits gets more. */
export function inColumn(value: number, decimals: number): string {
  if (value === 0 || !Number.isFinite(value)) return decimal(value, decimals, true);
  const needed = DIGITS - 1 - Math.floor(Math.log10(Math.abs(value)));
  if (decimals === 0 || needed <= decimals) return decimal(value, decimals, true);
  const smallest = 10 ** -MOST_DECIMALS;
  if (Math.abs(value) < smallest)
    return `${value < 0 ? ">−" : "<"}${decimal(smallest, MOST_DECIMALS)}`;
  return decimal(value, Math.min(needed, MOST_DECIMALS), true);
}

export type Maybe = number | null | undefined;

export function present(value: Maybe): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** 1,284 */
export function count(value: Maybe): string {
  return present(value) ? decimal(value, 2) : MISSING;
}

/** Takes 0…100. */
export function percent(value: Maybe, decimals = 1): string {
  if (!present(value)) return MISSING;
  const smallest = 10 ** -decimals;
  if (value !== 0 && Math.abs(value) < smallest / 2) {
    return `${value < 0 ? ">−" : "<"}${decimal(smallest, decimals)} %`;
  }
  return `${decimal(value, decimals, true)} %`;
}

/** Takes 0…1. */
export function fraction(value: Maybe, decimals = 1): string {
  return percent(present(value) ? value * 100 : null, decimals);
}
