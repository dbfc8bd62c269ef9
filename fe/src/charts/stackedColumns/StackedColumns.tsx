import { useCallback, useMemo } from "react";
import { useBoxWidth } from "../../draw";
import { count } from "../../format";
import { stackedColumnsTexts as text } from "../../i18n";
import { Button } from "../../ui";
import { columnAt } from "../axes";
import { Chart } from "../Chart";
import { type Bucket, bucketSize, bucketsOf, totalsOf } from "../merge";
import type { SceneTheme } from "../scene";
import { columnsPicture, columnsPlot } from "../scenes/columns";
import { summary } from "../summary";
import type { Brush } from "../useBrush";
import { moveRange, openRange, zoomRange } from "./range";
import { Strip } from "./Strip";
import type { ColumnsProps } from "./types";
import { rowOf, type Totals, tipOf } from "./words";
import "./stackedColumns.css";

const HEIGHT = 300;
/** With fewer items there is nothing to zoom into. */
const FEW = 12;
const IN = 0.5;
const OUT = 2;
const NO_FLAGS: readonly boolean[] = [];
/** Where an arrow leads that may leave what is shown. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

/** Expects arrays to keep their identity while they mean the same. */
export function Columns(props: ColumnsProps) {
  const { title, unit, names, series, mode, order, range, onRange, selected, xLabel } = props;
  const flagged = props.flagged ?? NO_FLAGS;
  const { box, width } = useBoxWidth();
  const plot = useMemo(() => columnsPlot(width, HEIGHT), [width]);
  const totals = useMemo(() => totalsOf(series, names.length), [series, names.length]);
  const { from, to } = range ?? { from: 0, to: order.length };
  const size = bucketSize(to - from, plot.width);
  const buckets = useMemo(
    () => bucketsOf({ order, series, totals, flagged }, { from, to }, size),
    [order, series, totals, flagged, from, to, size],
  );
  const build = useCallback(
    (theme: SceneTheme) => {
      const label = (bucket: Bucket) => names[order[bucket.from] ?? -1] ?? "";
      const marked = selected === null ? null : order.indexOf(selected);
      const colors = series.map(({ color }) => color);
      const data = { buckets, colors, mode, unit, label, selected: marked, xLabel };
      return columnsPicture(data, plot, theme);
    },
    [buckets, series, mode, unit, names, order, selected, xLabel, plot],
  );
  const zoom = (center: number, factor: number) =>
    onRange(zoomRange(range, order.length, center, factor));
  const pick = (index: number) => {
    const bucket = buckets[index];
    const item = order[bucket?.from ?? -1];
    if (!bucket || item === undefined) return;
    if (bucket.to - bucket.from === 1) props.onPick(item);
    else onRange(openRange(bucket, order.length));
  };
  const onKey = (key: string, at: number): boolean => {
    const { from = 0, to = 0 } = buckets[at] ?? {};
    const by = STEPS[key] ?? 0;
    // At the edge of what is shown the picture moves along.
    if (range && by !== 0 && !buckets[at + by]) onRange(moveRange(range, order.length, by * size));
    else if (key === "+" || key === "=") zoom((from + to) / 2, IN);
    else if (key === "-") zoom((from + to) / 2, OUT);
    else if (key === "0") onRange(null);
    else return false;
    return true;
  };
  const onBrush = ({ left, right }: Brush) => {
    const inside = (x: number) => Math.max(plot.x, Math.min(plot.x + plot.width - 1, x));
    const bucketAt = (x: number) => buckets[columnAt(plot, buckets.length, inside(x)) ?? -1];
    const [first, last] = [bucketAt(left), bucketAt(right)];
    if (first && last && order.length > 1)
      onRange(zoomRange({ from: first.from, to: last.to }, order.length, first.from, 1));
  };
  const isLarge = order.length > FEW;
  return (
    <div className="columns" ref={box}>
      <Chart
        title={title}
        summary={said(props, totals)}
        height={HEIGHT}
        build={build}
        tips={{ count: buckets.length, content: (index) => tipOf(props, buckets[index], totals) }}
        keys={text.keys}
        onKey={onKey}
        onPick={pick}
        onBrush={onBrush}
        legend={series.map(({ key, label, color }) => ({ key, label, color, shown: true }))}
        head={[xLabel, text.total, ...series.map(({ label }) => label)]}
        rows={() => buckets.map((bucket, at) => rowOf(props, bucket, totals, () => pick(at)))}
      />
      {isLarge && (
        <Strip order={order} totals={totals} flagged={flagged} range={range} onRange={onRange} />
      )}
      {(isLarge || range) && (
        <Foot {...props} size={size} zoom={(by) => zoom((from + to) / 2, by)} />
      )}
    </div>
  );
}

/** What all items have on average. */
function said({ title, unit, series, order }: ColumnsProps, totals: Totals): string {
  const whole = { from: 0, to: order.length };
  const [mean] = bucketsOf({ order, series, totals, flagged: NO_FLAGS }, whole, order.length || 1);
  const parts = series.map(({ label }, at) => ({ label, value: mean?.parts[at] ?? 0 }));
  return summary(title, parts, unit, mean?.mean ?? 0);
}

interface FootProps extends ColumnsProps {
  /** How many items share a column. */
  readonly size: number;
  readonly zoom: (factor: number) => void;
}

/** Which part is shown, and how to change that. */
function Foot({ range, onRange, order, what, size, zoom }: FootProps) {
  const button = (label: string, onClick: () => void, disabled = false) => (
    <Button disabled={disabled} onClick={onClick}>
      {label}
    </Button>
  );
  return (
    <div className="columns-foot">
      <span className="muted num" role="status">
        {range && text.shown(count(range.from + 1), count(range.to), count(order.length))}{" "}
        {size > 1 && text.merged(count(size), what)}
      </span>
      <span className="columns-zoom">
        {button(text.zoomIn, () => zoom(IN))}
        {button(text.zoomOut, () => zoom(OUT), !range)}
        {button(text.all, () => onRange(null), !range)}
      </span>
    </div>
  );
}
