import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useBoxWidth } from "../../draw";
import { count } from "../../format";
import { useTheme } from "../../host";
import { stackedColumnsTexts, t } from "../../i18n";
import { Actions } from "../Actions";
import { centerOf, columnAt, columnBox } from "../axes";
import { ChartTable } from "../ChartTable";
import { keyTarget } from "../keys";
import { Legend, legendScene } from "../Legend";
import { type Bucket, bucketSize, bucketsOf, totalsOf } from "../merge";
import { type FileKind, paintCanvas, savePicture } from "../paint";
import { type Box, type SceneTheme, sceneTheme } from "../scene";
import { columnsPlot, columnsScene } from "../scenes/columns";
import { spokenTip, Tip } from "../Tip";
import { moveRange, openRange, zoomRange } from "./range";
import { Strip } from "./Strip";
import type { ColumnsProps } from "./types";
import { rowOf, tipOf } from "./words";
import "./stackedColumns.css";

const HEIGHT = 300;
/** Pixels that a pointer may move within a click. */
const STILL = 4;
/** With fewer items there is nothing to zoom into. */
const FEW = 12;

const text = stackedColumnsTexts;

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
  const plot = useMemo(() => columnsPlot(width, HEIGHT), [width]);
  const size = bucketSize(shown.to - shown.from, plot.width);
  const buckets = useMemo(
    () => bucketsOf({ order, series, totals, flagged }, { from: shown.from, to: shown.to }, size),
    [order, series, totals, flagged, shown.from, shown.to, size],
  );
  const at = Math.min(cursor, buckets.length - 1);

  const { xLabel } = props;
  const draw = useCallback(
    (colors: SceneTheme) => {
      const label = (bucket: Bucket) => names[order[bucket.from] ?? -1] ?? "";
      const marked = selected === null ? null : order.indexOf(selected);
      const fills = series.map(({ color }) => color);
      const data = { buckets, colors: fills, mode, unit, label, selected: marked, xLabel };
      return columnsScene(data, plot, colors);
    },
    [buckets, series, mode, unit, names, order, selected, xLabel, plot],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page's computed style
  useEffect(() => {
    if (!canvas.current) return;
    const colors = sceneTheme(canvas.current);
    paintCanvas(canvas.current, width, HEIGHT, draw(colors), colors);
  }, [draw, width, theme]);

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
    const to = keyTarget(event.key, at, buckets.length);
    if (to !== null) go(to);
    else if (event.key === "Enter" || event.key === " ") pick(at);
    else if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0") onRange(null);
    else return;
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
    setPointed(columnAt(plot, buckets.length, place));
    if (drag) setDrag({ ...drag, to: place });
  };
  const onPointerUp = (event: PointerEvent) => {
    if (!drag) return;
    setDrag(null);
    // Where it is released, not where it was last drawn: the last move may not have been drawn yet.
    const to = placeOf(event);
    const [left, right] = [Math.min(drag.from, to), Math.max(drag.from, to)];
    if (right - left <= STILL) {
      const index = columnAt(plot, buckets.length, to);
      if (index === null) return;
      setCursor(index);
      pick(index);
      return;
    }
    const inside = (x: number) => Math.max(plot.x, Math.min(plot.x + plot.width - 1, x));
    const first = buckets[columnAt(plot, buckets.length, inside(left)) ?? 0];
    const last = buckets[columnAt(plot, buckets.length, inside(right)) ?? buckets.length - 1];
    if (first && last && order.length > 1)
      onRange(zoomRange({ from: first.from, to: last.to }, order.length, first.from, 1));
  };

  const legend = series.map(({ key, label, color }) => ({ key, label, color, shown: true }));
  const save = (kind: FileKind) => {
    if (!canvas.current) return;
    const colors = sceneTheme(canvas.current);
    const below = legendScene(legend, width, HEIGHT, colors);
    const shapes = [...draw(colors), ...below.shapes];
    savePicture(kind, title, shapes, width, HEIGHT + below.height, colors);
  };

  const tip = focused && pointed === null ? at : drag ? null : pointed;
  const told = tip === null ? null : tipOf(props, buckets[tip], totals);
  const spoken = tipOf(props, buckets[at], totals);
  const large = order.length > FEW;
  return (
    <figure className={asTable ? "columns as-table" : "columns"}>
      <Actions asTable={asTable} onTable={setAsTable} onSave={save} />
      {asTable && (
        <ChartTable
          title={title}
          head={[xLabel, text.total, ...series.map(({ label }) => label)]}
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
        aria-valuetext={spoken ? spokenTip(spoken) : t.panel.empty}
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
          <span className="columns-band" style={placeStyle(columnBox(plot, buckets.length, tip))} />
        )}
        {drag && Math.abs(drag.to - drag.from) > STILL && (
          <span
            className="columns-brush"
            style={placeStyle({
              ...plot,
              x: Math.min(drag.from, drag.to),
              width: Math.abs(drag.to - drag.from),
            })}
          />
        )}
        {tip !== null && told && (
          <Tip
            content={told}
            x={centerOf(plot, buckets.length, tip)}
            y={12}
            width={width}
            height={HEIGHT}
          />
        )}
      </div>
      <Legend label={text.legend} entries={legend} />
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

function placeStyle({ x, y, width, height }: Box) {
  return { left: x, top: y, width, height };
}
