/** Rows that say the same of several groups of ranks, as one. Pure. */

export interface Fold<T> {
  /** Stands for all of them. */
  readonly row: T;
  /** How many there are. */
  readonly count: number;
}

/** Amounts that differ by less than this share are alike. */
const NEAR = 0.25;

/** Of rows with one key, those whose amounts are all near those of the first become one, in its place. */
export function fold<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  amountsOf: (row: T) => readonly number[],
): Fold<T>[] {
  const folds: { row: T; key: string; amounts: readonly number[]; count: number }[] = [];
  for (const row of rows) {
    const key = keyOf(row);
    const amounts = amountsOf(row);
    const like = folds.find((each) => each.key === key && areNear(each.amounts, amounts));
    if (like) like.count += 1;
    else folds.push({ row, key, amounts, count: 1 });
  }
  return folds;
}

function areNear(a: readonly number[], b: readonly number[]): boolean {
  return a.every((amount, at) => {
    const other = b[at] ?? 0;
    return Math.abs(amount - other) <= NEAR * Math.max(amount, other);
  });
}
