import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { crisp, readTheme, useBoxWidth } from "../../draw";
import { count, percent, type Unit, value } from "../../format";
import { canSave, saveFile, useTheme } from "../../host";
import { chartsTexts, t, stackedColumnsTexts as text } from "../../i18n";
import { ActionButton, type ChartRow, ChartTable } from "..";
import { type Bucket, bucketSize, bucketsOf, type ColumnSeries, totalsOf } from "./merge";
import { paint, svgText } from "./paint";
import { moveRange, openRange, type Range, zoomRange } from "./range";
import { Strip } from "./Strip";
import { bucketAt, centerOf, columnsScene, plotOf, type SceneTheme, type Shape } from "./scene";
import "./stackedColumns.css";

const HEIGHT = 300;
/** Pixels that a pointer may move within a click. */
const STILL = 4;
/** With fewer items there is nothing to zoom into. */
const FEW = 12;

export interface ColumnsProps {
  /** Names the picture: its accessible name, and the file name of a saved image. */
  readonly title: string;
  readonly unit: Unit;
  readonly xLabel: string;
  /** What many of the items are called: "steps". */
  readonly what: string;
  readonly names: readonly string[];
  /** More about an item, for the tooltip. */
  readonly details?: ((item: number) => string | null) | undefined;
  readonly series: readonly ColumnSeries[];
  /** `percent`: each column is scaled to 100 %. */
  readonly mode: "absolute" | "percent";
  /** Items from left to right. */
  readonly order: readonly number[];
  /** The positions of the order that are shown; null shows all. */
  readonly range: Range | null;
  readonly onRange: (range: Range | null) => void;
  readonly selected: number | null;
  readonly flagged?: readonly boolean[];
  readonly onPick: (item: number) => void;
}

const NO_FLAGS: readonly boolean[] = [];

/** Expects arrays to keep their identity while they mean the same. */
export function Columns(props: ColumnsProps) {
  const { title, unit, names, series, mode, order, range, onRange, selected, onPick } = props;
  const flagged = props.flagged ?? NO_FLAGS;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useBoxWidth();
  const theme = useTheme();
  const [pointed, setPointed] = useState<number | null>(null);
  const [cursor, setCursor] = useState(0);
  const [focused, setFocused] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);

  const totals = useMemo(() => totalsOf(series, names.length), [series, names.length]);
  const shown = range ?? { from: 0, to: order.length };
  const plot = plotOf(width, HEIGHT);
  const size = bucketSize(shown.to - shown.from, plot.width);
  const buckets = useMemo(
    () => bucketsOf({ order, series, totals, flagged }, { from: shown.from, to: shown.to }, size),
    [order, series, totals, flagged, shown.from, shown.to, size],
  );
  const at = Math.min(cursor, buckets.length - 1);
  const label = (bucket: Bucket) => names[order[bucket.from] ?? -1] ?? "";

  const draw = (colors: Theme): Shape[] =>
    columnsScene(
      {
        buckets,
        colors: series.map(({ color }) => colors.resolve(color)),
        mode,
        unit,
        label,
        selected: selected === null ? null : order.indexOf(selected),
        xLabel: props.xLabel,
      },
      plot,
      colors,
    );

  // biome-ignore lint/correctness/useExhaustiveDependencies: `draw` and `plot` follow from these; the theme is in the page's style
  useEffect(() => {
    const context = canvas.current && crisp(canvas.current, width, HEIGHT);
    if (!context || !canvas.current) return;
    const colors = themeOf(canvas.current);
    paint(context, draw(colors), colors);
  }, [buckets, series, mode, unit, width, theme, selected, order, names, props.xLabel]);

  const pick = (index: number) => {
    const bucket = buckets[index];
    if (!bucket) return;
    const item = order[bucket.from];
    if (bucket.to - bucket.from === 1) {
      if (item !== undefined) onPick(item);
    } else onRange(openRange(bucket, order.length));
  };
  const zoom = (factor: number) => {
    const center = buckets[at];
    const middle = focused && center ? (center.from + center.to) / 2 : (shown.from + shown.to) / 2;
    onRange(zoomRange(range, order.length, middle, factor));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const go = (next: number) => {
      const last = buckets.length - 1;
      // At the edge of what is shown the picture moves along.
      if (range && (next < 0 || next > last)) {
        onRange(moveRange(range, order.length, next < 0 ? -size : size));
      }
      setCursor(Math.max(0, Math.min(last, next)));
    };
    switch (event.key) {
      case "ArrowLeft":
        go(at - 1);
        break;
      case "ArrowRight":
        go(at + 1);
        break;
      case "PageUp":
        go(Math.max(0, at - 10));
        break;
      case "PageDown":
        go(Math.min(buckets.length - 1, at + 10));
        break;
      case "Home":
        go(0);
        break;
      case "End":
        go(buckets.length - 1);
        break;
      case "Enter":
      case " ":
        pick(at);
        break;
      case "+":
      case "=":
        zoom(0.5);
        break;
      case "-":
        zoom(2);
        break;
      case "0":
        onRange(null);
        break;
      default:
        return;
    }
    event.preventDefault();
  };

  const placeOf = (event: PointerEvent) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ from: placeOf(event), to: placeOf(event) });
  };
  const onPointerMove = (event: PointerEvent) => {
    const place = placeOf(event);
    setPointed(bucketAt(plot, buckets.length, place));
    if (drag) setDrag({ ...drag, to: place });
  };
  const onPointerUp = (event: PointerEvent) => {
    if (!drag) return;
    setDrag(null);
    const [left, right] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    if (right - left <= STILL) {
      const index = bucketAt(plot, buckets.length, placeOf(event));
      if (index === null) return;
      setCursor(index);
      pick(index);
      return;
    }
    const inside = (x: number) => Math.max(plot.left, Math.min(plot.left + plot.width - 1, x));
    const first = buckets[bucketAt(plot, buckets.length, inside(left)) ?? 0];
    const last = buckets[bucketAt(plot, buckets.length, inside(right)) ?? buckets.length - 1];
    if (first && last && order.length > 1)
      onRange(zoomRange({ from: first.from, to: last.to }, order.length, first.from, 1));
  };

  const save = (kind: "png" | "svg") => {
    const element = canvas.current;
    if (!element) return;
    const colors = themeOf(element);
    if (kind === "svg") {
      const svg = svgText(draw(colors), width, HEIGHT, colors);
      saveFile(`${title}.svg`, new Blob([svg], { type: "image/svg+xml" }));
      return;
    }
    const picture = document.createElement("canvas");
    const context = crisp(picture, width, HEIGHT, 2);
    if (!context) return;
    context.fillStyle = colors.surface;
    context.fillRect(0, 0, width, HEIGHT);
    paint(context, draw(colors), colors);
    picture.toBlob((png) => png && saveFile(`${title}.png`, png), "image/png");
  };

  const tip = focused && pointed === null ? at : drag ? null : pointed;
  const lines = tip === null ? null : linesOf(props, buckets[tip], totals);
  const spoken = linesOf(props, buckets[at], totals);
  const large = order.length > FEW;
  return (
    <figure className={asTable ? "columns as-table" : "columns"}>
      <div className="columns-actions chart-actions">
        {!asTable &&
          canSave() &&
          (["png", "svg"] as const).map((kind) => (
            <ActionButton key={kind} label={chartsTexts[kind]} onClick={() => save(kind)}>
              {kind.toUpperCase()}
            </ActionButton>
          ))}
        <ActionButton
          label={asTable ? chartsTexts.showChart : chartsTexts.showTable}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? chartsTexts.chart : chartsTexts.table}
        </ActionButton>
      </div>
      {asTable && (
        <ChartTable
          title={title}
          head={[props.xLabel, text.total, ...series.map(({ label }) => label)]}
          texts={1}
          rows={buckets.map((bucket, index) => rowOf(props, bucket, totals, () => pick(index)))}
        />
      )}
      <div
        ref={box}
        className="columns-picture"
        // It keeps its width, from which follows how many items share a column.
        style={asTable ? { height: 0, visibility: "hidden" } : { height: HEIGHT }}
        role="slider"
        tabIndex={0}
        aria-label={title}
        aria-description={text.keys}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, buckets.length)}
        aria-valuenow={at + 1}
        aria-valuetext={spoken ? spokenText(spoken) : t.panel.empty}
        onKeyDown={onKeyDown}
        onFocus={(event) => setFocused(event.currentTarget.matches(":focus-visible"))}
        onBlur={() => setFocused(false)}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => setPointed(null)}
      >
        <canvas ref={canvas} style={{ width: "100%", height: HEIGHT }} />
        {tip !== null && (
          <span
            className="columns-band"
            style={bandStyle(plot.left, plot.top, plot.width, plot.height, tip, buckets.length)}
          />
        )}
        {drag && Math.abs(drag.to - drag.from) > STILL && (
          <span
            className="columns-brush"
            style={{
              left: Math.min(drag.from, drag.to),
              width: Math.abs(drag.to - drag.from),
              top: plot.top,
              height: plot.height,
            }}
          />
        )}
        {tip !== null && lines && (
          <Tooltip lines={lines} left={centerOf(plot, buckets.length, tip)} width={width} />
        )}
      </div>
      <ul className="columns-legend" aria-label={text.legend}>
        {series.map(({ key, label: name, color }) => (
          <li key={key}>
            <i className="swatch" style={{ background: color }} />
            {name}
          </li>
        ))}
      </ul>
      {large && (
        <Strip order={order} totals={totals} flagged={flagged} range={range} onRange={onRange} />
      )}
      {(large || range) && (
        <div className="columns-foot">
          <span className="muted num" role="status">
            {range && text.shown(count(range.from + 1), count(range.to), count(order.length))}{" "}
            {size > 1 && text.merged(count(size), props.what)}
          </span>
          <span className="columns-zoom">
            <button type="button" className="button" onClick={() => zoom(0.5)}>
              {text.zoomIn}
            </button>
            <button type="button" className="button" disabled={!range} onClick={() => zoom(2)}>
              {text.zoomOut}
            </button>
            <button
              type="button"
              className="button"
              disabled={!range}
              onClick={() => onRange(null)}
            >
              {text.all}
            </button>
          </span>
        </div>
      )}
    </figure>
  );
}

type Theme = SceneTheme & { readonly surface: string };

function themeOf(element: Element): Theme {
  const theme = readTheme(element);
  return { ...theme, flag: theme.resolve("var(--danger)") };
}

function bandStyle(
  left: number,
  top: number,
  width: number,
  height: number,
  index: number,
  buckets: number,
) {
  const pitch = width / Math.max(1, buckets);
  return { left: left + index * pitch, width: Math.max(1, pitch), top, height };
}

interface Lines {
  readonly title: string;
  readonly subtitle: string | null;
  readonly parts: readonly {
    readonly key: string;
    readonly label: string;
    readonly color: string;
    readonly text: string;
    readonly share: string;
  }[];
  readonly extremes: readonly (readonly [string, string])[];
}

function linesOf(
  { names, order, series, unit, xLabel, what, details }: ColumnsProps,
  bucket: Bucket | undefined,
  totals: readonly (number | null)[],
): Lines | null {
  if (!bucket) return null;
  const first = order[bucket.from] ?? -1;
  const name = names[first] ?? "";
  const many = bucket.to - bucket.from > 1;
  const last = names[order[bucket.to - 1] ?? -1] ?? "";
  const total = value(bucket.mean, unit);
  const known = many ? bucket.items > 0 : totals[first] !== null && totals[first] !== undefined;
  return {
    title: `${xLabel} ${many ? `${name} … ${last}` : name}: ${known ? total : text.missing}`,
    subtitle: many ? text.meanOf(count(bucket.items), what) : (details?.(first) ?? null),
    parts: known
      ? series.map(({ key, label, color }, index) => ({
          key,
          label,
          color,
          text: value(bucket.parts[index], unit),
          share: bucket.mean > 0 ? percent(((bucket.parts[index] ?? 0) / bucket.mean) * 100) : "",
        }))
      : [],
    extremes:
      many && known
        ? [
            [text.least, value(bucket.min, unit)],
            [text.most, value(bucket.max, unit)],
          ]
        : [],
  };
}

/** What a column shows, in numbers. */
function rowOf(
  { names, order, series, unit }: ColumnsProps,
  bucket: Bucket,
  totals: readonly (number | null)[],
  onPick: () => void,
): ChartRow {
  const first = order[bucket.from] ?? -1;
  const name = names[first] ?? "";
  const many = bucket.to - bucket.from > 1;
  const known = many ? bucket.items > 0 : (totals[first] ?? null) !== null;
  const numbers = [bucket.mean, ...series.map((_, index) => bucket.parts[index])];
  return {
    cells: [
      many ? `${name} … ${names[order[bucket.to - 1] ?? -1] ?? ""}` : name,
      ...numbers.map((number) => (known ? value(number, unit) : text.missing)),
    ],
    onPick,
  };
}

function spokenText({ title, subtitle, parts, extremes }: Lines): string {
  return [
    title,
    subtitle,
    ...parts.map((part) => `${part.label} ${part.text}`),
    ...extremes.map((pair) => pair.join(" ")),
  ]
    .filter(Boolean)
    .join(", ");
}

interface TooltipProps {
  readonly lines: Lines;
  readonly left: number;
  readonly width: number;
}

/** Beside the column, on the side with more room. */
function Tooltip({ lines, left, width }: TooltipProps) {
  const side = left > width / 2 ? { right: width - left + 14 } : { left: left + 14 };
  return (
    <div className="columns-tip" style={side} aria-hidden="true">
      <div className="chart-tooltip-title">{lines.title}</div>
      {lines.subtitle && <div className="chart-tooltip-subtitle">{lines.subtitle}</div>}
      <div className="chart-tooltip-lines">
        {lines.parts.map((part) => [
          <span key={`${part.key} name`}>
            <i className="chart-tooltip-swatch" style={{ backgroundColor: part.color }} />
            {part.label}
          </span>,
          <span key={`${part.key} value`} className="chart-tooltip-value">
            {part.text}
          </span>,
          <span key={`${part.key} share`} className="chart-tooltip-share">
            {part.share}
          </span>,
        ])}
        {lines.extremes.map(([name, number]) => [
          <span key={`${name} name`}>{name}</span>,
          <span key={`${name} value`} className="chart-tooltip-value">
            {number}
          </span>,
          <span key={`${name} share`} />,
        ])}
      </div>
    </div>
  );
}
