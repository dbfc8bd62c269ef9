/** What a column shows, in words and numbers. Pure. */
import type { TooltipContent } from "../../draw";
import { count, percent, value } from "../../format";
import { stackedColumnsTexts } from "../../i18n";
import type { ChartRow } from "../ChartTable";
import type { Bucket } from "../merge";
import type { ColumnsProps } from "./types";

const text = stackedColumnsTexts;

export type Totals = readonly (number | null)[];

function nameOf({ names, order }: ColumnsProps, { from, to }: Bucket): string {
  const name = (position: number) => names[order[position] ?? -1] ?? "";
  return to - from > 1 ? `${name(from)} … ${name(to - 1)}` : name(from);
}

function isKnown({ order }: ColumnsProps, bucket: Bucket, totals: Totals): boolean {
  const first = order[bucket.from] ?? -1;
  return bucket.to - bucket.from > 1 ? bucket.items > 0 : (totals[first] ?? null) !== null;
}

export function tipOf(
  props: ColumnsProps,
  bucket: Bucket | undefined,
  totals: Totals,
): TooltipContent {
  if (!bucket) return { title: "", lines: [] };
  const { order, series, unit, xLabel, what, details } = props;
  const many = bucket.to - bucket.from > 1;
  const known = isKnown(props, bucket, totals);
  const total = known ? value(bucket.mean, unit) : text.missing;
  const parts = series.map(({ label, color }, index) => ({
    label,
    color,
    value: value(bucket.parts[index], unit),
    share: bucket.mean > 0 ? percent(((bucket.parts[index] ?? 0) / bucket.mean) * 100) : "",
  }));
  const extremes = [
    { label: text.least, value: value(bucket.min, unit) },
    { label: text.most, value: value(bucket.max, unit) },
  ];
  const one = details?.(order[bucket.from] ?? -1) ?? undefined;
  return {
    title: `${xLabel} ${nameOf(props, bucket)}: ${total}`,
    subtitle: many ? text.meanOf(count(bucket.items), what) : one,
    lines: known ? [...parts, ...(many ? extremes : [])] : [],
  };
}

export function rowOf(
  props: ColumnsProps,
  bucket: Bucket,
  totals: Totals,
  onPick: () => void,
): ChartRow {
  const known = isKnown(props, bucket, totals);
  const numbers = [bucket.mean, ...props.series.map((_, index) => bucket.parts[index])];
  return {
    cells: [
      nameOf(props, bucket),
      ...numbers.map((number) => (known ? value(number, props.unit) : text.missing)),
    ],
    onPick,
  };
}
