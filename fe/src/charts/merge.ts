/** Many items to as many columns as there is room for. Pure. */

/** Positions `from` … `to - 1` of an order of items. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface ColumnSeries {
  readonly key: string;
  readonly label: string;
  /** A CSS colour or custom property reference. */
  readonly color: string;
  /** One for each item; null where the item has no value. */
  readonly values: readonly (number | null)[];
}

type Valued = Pick<ColumnSeries, "values">;

/** Columns narrower than this, in pixels, cannot be told apart or hit. */
export const MIN_PITCH = 4;

/** Items `order[from]` … `order[to - 1]` as one column. */
export interface Bucket extends Range {
  /** How many of them have a value. */
  readonly items: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** Mean of each series; they add up to `mean`. */
  readonly parts: readonly number[];
  readonly flagged: number;
}

/** The sum over all series for each item; null where no series has a value. */
export function totalsOf(series: readonly Valued[], items: number): (number | null)[] {
  return Array.from({ length: items }, (_, item) =>
    series.reduce<number | null>((sum, { values }) => {
      const value = values[item] ?? null;
      return value === null ? sum : (sum ?? 0) + value;
    }, null),
  );
}

/** How many items share a column, so that all fit into `width` pixels. */
export function bucketSize(items: number, width: number): number {
  const columns = Math.max(1, Math.floor(width / MIN_PITCH));
  return Math.max(1, Math.ceil(items / columns));
}

export interface Items {
  readonly order: readonly number[];
  readonly series: readonly Valued[];
  readonly totals: readonly (number | null)[];
  readonly flagged: readonly boolean[];
}

/** The items of a range, `size` to a column; the last column may have fewer. */
export function bucketsOf(
  { order, series, totals, flagged }: Items,
  { from, to }: Range,
  size: number,
): Bucket[] {
  const buckets: Bucket[] = [];
  for (let start = from; start < to; start += size) {
    const end = Math.min(to, start + size);
    const members = order.slice(start, end);
    const known = members.filter((item) => totals[item] !== null && totals[item] !== undefined);
    const values = known.map((item) => totals[item] as number);
    const mean = (numbers: readonly number[]) =>
      known.length === 0 ? 0 : numbers.reduce((sum, number) => sum + number, 0) / known.length;
    buckets.push({
      from: start,
      to: end,
      items: known.length,
      mean: mean(values),
      min: values.reduce((least, value) => Math.min(least, value), values[0] ?? 0),
      max: values.reduce((most, value) => Math.max(most, value), 0),
      parts: series.map((each) => mean(known.map((item) => each.values[item] ?? 0))),
      flagged: members.filter((item) => flagged[item]).length,
    });
  }
  return buckets;
}

/** Item numbers by a value, the largest first; those without a value last. */
export function largestFirst(values: readonly (number | null)[]): number[] {
  return values
    .map((_, item) => item)
    .sort(
      (a, b) =>
        (values[b] ?? Number.NEGATIVE_INFINITY) - (values[a] ?? Number.NEGATIVE_INFINITY) || a - b,
    );
}
