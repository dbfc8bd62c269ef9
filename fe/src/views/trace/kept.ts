/** Values that stay the same object while they mean the same, so that nothing is drawn anew for them. */

/** Computes again when one of the inputs is another one. */
export function cell<I extends readonly unknown[], T>(
  compute: (...inputs: I) => T,
): (...inputs: I) => T {
  let last: { readonly inputs: I; readonly value: T } | null = null;
  return (...inputs) => {
    if (!last?.inputs.every((input, at) => Object.is(input, inputs[at])))
      last = { inputs, value: compute(...inputs) };
    return last.value;
  };
}

/** The list from before when the entries of the next one have the same fields. */
export function listCell<T extends object>(): (next: readonly T[]) => readonly T[] {
  let last: readonly T[] = [];
  return (next) => {
    const isSame =
      next.length === last.length && next.every((entry, at) => sameFields(entry, last[at]));
    if (!isSame) last = next;
    return last;
  };
}

export function sameFields<T extends object>(a: T, b: T | undefined): boolean {
  if (b === undefined) return false;
  const keys = Object.keys(a) as (keyof T)[];
  return keys.length === Object.keys(b).length && keys.every((key) => Object.is(a[key], b[key]));
}
