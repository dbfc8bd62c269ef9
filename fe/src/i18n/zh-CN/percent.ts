import type { Values } from "../values";

/** A share, 0…1, in words. */
export const percent = (share: Values[string] | undefined, digits = 1) =>
  `${(100 * Number(share)).toFixed(digits)} %`;
