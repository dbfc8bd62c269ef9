import { type Cell, isMissing } from "./model";

/**
 * Texts are ordered as their keys are: `a2` before `a10`, `B` after `a`; texts alike in that, as they are.
 * `tables/query/natural.py` is the same on the server.
 */
function naturalKey(text: string): string {
  return `${text.toLowerCase().replace(/[0-9]+/g, padded)}\0${text}`;
}

/** The longer number is the larger one; zeros in front do not count. */
function padded(number: string): string {
  const digits = number.replace(/^0+/, "");
  return `0${String.fromCharCode(digits.length + 1)}${digits}`;
}

const known = new WeakMap<readonly Cell[], Float64Array>();

/**
 * A column as numbers that are ordered as its values are; missing ones are NaN.
 * Computed once for a column: sorting by texts again and again would be slow.
 */
export function ranks(values: readonly Cell[]): Float64Array {
  let found = known.get(values);
  if (!found) {
    found = values.some((cell) => typeof cell === "string")
      ? textRanks(values)
      : Float64Array.from(values, (cell) => (isMissing(cell) ? Number.NaN : Number(cell)));
    known.set(values, found);
  }
  return found;
}

function textRanks(values: readonly Cell[]): Float64Array {
  const places = new Map<string, number>();
  for (const cell of values) if (!isMissing(cell)) places.set(String(cell), 0);
  const keyed = [...places.keys()].map((text) => ({ text, key: naturalKey(text) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  for (const [place, { text }] of keyed.entries()) places.set(text, place);
  return Float64Array.from(values, (cell) =>
    isMissing(cell) ? Number.NaN : (places.get(String(cell)) ?? Number.NaN),
  );
}
