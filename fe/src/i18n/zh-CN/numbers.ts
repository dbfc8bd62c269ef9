import type { Values } from "../values";

/** A share, 0…1, in words. */
export const percent = (share: Values[string] | undefined, digits = 1) =>
  `${(100 * Number(share)).toFixed(digits)} %`;

/** With so many digits, but all those before the point. */
export const short = (count: number, digits: number) =>
  Math.abs(count) < 10 ** (digits - 1) ? Number(count.toPrecision(digits)) : count.toFixed(0);

/** A duration in the unit in which the page has it, as the server writes it. */
export const ms = (ns: Values[string] | undefined) => {
  const count = Number(ns);
  const least = Math.abs(count);
  if (least >= 1e9) return `${short(count / 1e9, 3)} s`;
  return least >= 1e6 ? `${short(count / 1e6, 3)} ms` : `${short(count / 1e3, 3)} µs`;
};

/** The largest first. */
export const BYTES_PER: Readonly<Record<string, number>> = {
  TiB: 2 ** 40,
  GiB: 2 ** 30,
  MiB: 2 ** 20,
  KiB: 2 ** 10,
  B: 1,
};

/** Bytes in the unit that fits, as the server writes them. */
export const size = (bytes: number) => {
  const [unit, per] = Object.entries(BYTES_PER).find(([, per]) => Math.abs(bytes) >= per) ?? [
    "B",
    1,
  ];
  return `${Number((bytes / per).toFixed(2))} ${unit}`;
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
