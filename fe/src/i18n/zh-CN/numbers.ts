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
