import type { Values } from "../values";

/** A share, 0…1, in words. */
export const percent = (share: Values[string] | undefined, digits = 1) =>
  `${(100 * Number(share)).toFixed(digits)} %`;

const short = (count: number, digits = 3) =>
  Math.abs(count) < 10 ** (digits - 1) ? Number(count.toPrecision(digits)) : count.toFixed(0);

/** A duration in the unit in which the page has it, as the server writes it. */
export const ms = (ns: Values[string] | undefined) => {
  const count = Number(ns);
  const least = Math.abs(count);
  if (least >= 1e9) return `${short(count / 1e9)} s`;
  return least >= 1e6 ? `${short(count / 1e6)} ms` : `${short(count / 1e3)} µs`;
};

/** Bytes in KiB, as the server writes them. */
export const kibibytes = (bytes: Values[string] | undefined, digits = 3) =>
  `${short(Number(bytes) / 2 ** 10, digits)} KiB`;

/** The same in MiB. */
export const mebibytes = (bytes: Values[string] | undefined, digits = 3) =>
  `${short(Number(bytes) / 2 ** 20, digits)} MiB`;

/** The same in GiB. */
export const gibibytes = (bytes: Values[string] | undefined, digits = 2) =>
  `${short(Number(bytes) / 2 ** 30, digits)} GiB`;

const BYTES_PER: Readonly<Record<string, number>> = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
};

/** Bytes in a unit with so many decimals; undefined of a unit that does not exist. */
export const decimalBytes = (
  bytes: Values[string] | undefined,
  unit: string,
  decimals: number,
): string | undefined => {
  const per = BYTES_PER[unit];
  return per === undefined ? undefined : `${(Number(bytes) / per).toFixed(decimals)} ${unit}`;
};

/** How often something happens in some steps: a whole number a step, or how many in all of few. */
export const howOften = (count: Values[string] | undefined, steps: Values[string] | undefined) => {
  const [all, n] = [Number(count), Math.max(Number(steps), 1)];
  if (all % n !== 0 && all < 10 * n) return `${n} 步中 ${all} 次`;
  return `每步${all % n === 0 ? "" : "约"} ${Math.round(all / n)} 次`;
};

/** How many times as much: one decimal where it tells anything. */
export const timesAsMuch = (ratio: Values[string] | undefined) =>
  Number(ratio) < 100 ? Number(ratio).toFixed(1) : Math.round(Number(ratio)).toLocaleString("en");
