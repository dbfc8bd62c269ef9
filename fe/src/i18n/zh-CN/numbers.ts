import type { Values } from "../values";

/** A share, 0…1, in words. */
export const percent = (share: Values[string] | undefined, digits = 1) =>
  `${(100 * Number(share)).toFixed(digits)} %`;

/** A duration in milliseconds, as the server writes it. */
export const ms = (ns: Values[string] | undefined) =>
  Number(ns) >= 1e10
    ? `${(Number(ns) / 1e9).toFixed(1)} s`
    : Number(ns) < 1e8
      ? `${Number((Number(ns) / 1e6).toPrecision(3))} ms`
      : `${(Number(ns) / 1e6).toFixed(0)} ms`;

/** How often something happens in some steps: a whole number a step, or how many in all of few. */
export const howOften = (count: Values[string] | undefined, steps: Values[string] | undefined) => {
  const [all, n] = [Number(count), Math.max(Number(steps), 1)];
  if (all % n !== 0 && all < 10 * n) return `${n} 步中 ${all} 次`;
  return `每步${all % n === 0 ? "" : "约"} ${Math.round(all / n)} 次`;
};
