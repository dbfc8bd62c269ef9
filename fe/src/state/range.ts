/** The steps to which the views are limited, as the address has them: `5~10`. Pure. */

/** Names of steps as the server writes them, and how long each took. */
export interface StepList {
  readonly names: readonly string[];
  readonly duration_ns: readonly number[];
}

/** Positions in the list of steps, both ends included. */
export interface StepRange {
  readonly first: number;
  readonly last: number;
}

const SEPARATOR = "~";

/** Null when that is all steps: a default is never written. */
export function formatRange(names: readonly string[], range: StepRange | null): string | null {
  if (range === null) return null;
  const { first, last } = range;
  const from = names[first];
  const to = names[last];
  if (from === undefined || to === undefined || (first === 0 && last === names.length - 1)) {
    return null;
  }
  return `${from}${SEPARATOR}${to}`;
}

/** Null when a name does not exist, or the steps are in the wrong order. */
export function parseRange(text: string, names: readonly string[]): StepRange | null {
  // A name may contain the separator, so every place where it stands may be the one between them.
  for (let at = text.indexOf(SEPARATOR); at >= 0; at = text.indexOf(SEPARATOR, at + 1)) {
    const first = names.indexOf(text.slice(0, at));
    const last = names.lastIndexOf(text.slice(at + 1));
    if (first >= 0 && last >= first) return { first, last };
  }
  return null;
}
