/** A picture of all ranks and steps, by pointer and by keys; the numbers are in the table of ranks, too. */
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { type HeatMap as Answer, type RunRanks, useRankHeat } from "../../api";
import {
  computedColors,
  crisp,
  css,
  mix,
  pack,
  parseColor,
  readTheme,
  useBoxWidth,
} from "../../draw";
import { count, value } from "../../format";
import { useTheme } from "../../host";
import { ranksTexts } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import { Async, Empty, Panel, Segmented } from "../../ui";
import { cellsOf, type Grid, heatGrid, heatPixels, orderOf } from "./heat";
import { METRICS, type Metric, metricOf } from "./metrics";
import { params } from "./params";
import { rankName } from "./sentence";

const text = ranksTexts.heat;
const ORDERS = (["rank", "node", "value"] as const).map((each) => ({
  value: each,
  label: text.orders[each],
}));

const HIGHEST = 384;
const TALLEST_ROW = 22;
const LEFT = 68;
const RIGHT = 10;
const TOP = 20;
const BOTTOM = 38;
const SHADES = 256;

interface Props {
  readonly ranks: RunRanks;
  readonly steps: readonly string[];
  readonly metrics: readonly Metric[];
  readonly step: string | null;
  readonly selected: string | null;
  readonly onPick: (worker: string, step: string) => void;
}

export function HeatMap({ metrics, ...props }: Props) {
  const { sel } = useTrace();
  const [wanted, setMetric] = useAddress(params.heat);
  const [order, setOrder] = useAddress(params.heatOrder);
  const known = METRICS.filter((each) => metrics.includes(each));
  const metric = known.find((each) => each === metricOf(wanted)) ?? known[0] ?? METRICS[0];
  const query = useRankHeat(sel?.run ?? null, sel?.span ?? null, metric);
  return (
    <Panel
      title={text.title}
      help={text.help}
      actions={
        <>
          <Segmented
            labelled
            label={text.metric}
            value={metric}
            options={known.map((each) => ({
              value: each,
              label: text.metrics[each],
            }))}
            onChange={setMetric}
          />
          <Segmented
            labelled
            label={text.order}
            value={order}
            options={ORDERS}
            onChange={setOrder}
          />
        </>
      }
    >
      <Async
        query={query}
        empty={(heat) =>
          heat.steps === 0
            ? { reason: text.noSteps }
            : heat.values.every((each) => each === null)
              ? { title: text.empty, reason: text.reason }
              : null
        }
      >
        {(heat) =>
          // While ranks are read, the two answers may be of different numbers of them.
          heat.ranks === props.ranks.worker.length && heat.steps === props.steps.length ? (
            <Picture {...props} heat={heat} order={order} metric={heat.metric} />
          ) : (
            <Empty reason={text.noSteps} />
          )
        }
      </Async>
    </Panel>
  );
}

interface PictureProps extends Omit<Props, "metrics"> {
  readonly heat: Answer;
  readonly order: "rank" | "node" | "value";
  readonly metric: Metric;
}

function Picture(props: PictureProps) {
  const { heat, order, metric, ranks, steps, step, selected, onPick } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useBoxWidth();
  const theme = useTheme();
  const [pointed, setPointed] = useState<Cell | null>(null);
  const [cursor, setCursor] = useState({ row: 0, column: 0 });
  const [focused, setFocused] = useState(false);
  const cells = useMemo(() => cellsOf(heat), [heat]);
  const positions = useMemo(() => orderOf(ranks, cells, order), [ranks, cells, order]);
  const plotWidth = Math.max(1, width - LEFT - RIGHT);
  const grid = useMemo(
    () => heatGrid(heat, cells, positions, HIGHEST, plotWidth),
    [heat, cells, positions, plotWidth],
  );
  const image = useRef<{ grid: Grid; theme: unknown; canvas: HTMLCanvasElement } | null>(null);
  const rowHeight = Math.min(TALLEST_ROW, HIGHEST / grid.rows);
  const height = Math.round(rowHeight * grid.rows);
  const columnWidth = plotWidth / Math.max(1, grid.columns);
  const place = useMemo(() => new Map(positions.map((rank, at) => [rank, at])), [positions]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page's computed style
  useEffect(() => {
    const element = canvas.current;
    const context = element && width > 0 && crisp(element, width, TOP + height + BOTTOM);
    if (!context || !element) return;
    context.translate(0, TOP);
    const colors = readTheme(element);
    // A choice of rank and step leaves the cells as they are.
    if (image.current?.grid !== grid || image.current.theme !== theme) {
      image.current = { grid, theme, canvas: pictureOf(grid, shades(element)) };
    }
    context.imageSmoothingEnabled = false;
    context.drawImage(image.current.canvas, LEFT, 0, plotWidth, height);
    context.font = `12px ${colors.font}`;
    separate(context, colors.surface);
    outline(context, colors.text);
    mark(context, colors.text);
    labels(context, colors.muted);
  }, [grid, width, height, theme, step, selected, ranks, steps]);

  /** Lines between large cells. */
  function separate(context: CanvasRenderingContext2D, color: string) {
    context.fillStyle = color;
    if (rowHeight > 8) {
      for (let row = 1; row <= grid.rows; row++) {
        context.fillRect(LEFT, Math.round(row * rowHeight) - 1, plotWidth, 1);
      }
    }
    if (columnWidth > 8) {
      for (let column = 1; column <= grid.columns; column++) {
        context.fillRect(LEFT + Math.round(column * columnWidth) - 1, 0, 1, height);
      }
    }
  }

  /** Outliers: a frame where there is room, and a tick at the right. */
  function outline(context: CanvasRenderingContext2D, color: string) {
    context.strokeStyle = color;
    context.fillStyle = color;
    const framed = rowHeight >= 5 && columnWidth >= 5;
    for (const cell of grid.marked) {
      const row = Math.floor(cell / grid.columns);
      const x = LEFT + (cell % grid.columns) * columnWidth;
      const y = row * rowHeight;
      context.fillRect(LEFT + plotWidth + 2, y, 5, Math.max(1, Math.min(rowHeight - 1, 3)));
      if (framed) context.strokeRect(x + 0.5, y + 0.5, columnWidth - 2, rowHeight - 2);
    }
  }

  function mark(context: CanvasRenderingContext2D, color: string) {
    const at = place.get(ranks.worker.indexOf(selected ?? ""));
    context.strokeStyle = color;
    context.lineWidth = 1.5;
    if (at !== undefined) {
      const row = Math.floor(at / grid.ranksPerRow);
      context.strokeRect(LEFT, row * rowHeight, plotWidth - 1, Math.max(2, rowHeight - 1));
    }
    const chosen = step === null ? -1 : steps.indexOf(step);
    if (chosen >= 0) {
      const column = Math.floor(chosen / grid.stepsPerColumn);
      context.strokeRect(LEFT + column * columnWidth, 0, Math.max(2, columnWidth - 1), height);
    }
  }

  /** As many names as stand beside each other. */
  function labels(context: CanvasRenderingContext2D, color: string) {
    context.fillStyle = color;
    context.textAlign = "right";
    const everyRow = Math.max(1, Math.ceil(16 / rowHeight));
    for (let row = 0; row < grid.rows; row += everyRow) {
      const rank = positions[row * grid.ranksPerRow];
      if (rank === undefined) continue;
      const name = shortName(ranks, rank, order === "node");
      context.fillText(name, LEFT - 8, row * rowHeight + Math.min(rowHeight, 16) / 2 + 4);
    }
    context.fillText(text.orders[order === "node" ? "node" : "rank"], LEFT - 8, -7);
    context.textAlign = "center";
    context.fillText(text.step, LEFT + plotWidth / 2, height + 31);
    const longest = steps.reduce((most, { length }) => Math.max(most, length), 1);
    const everyColumn = Math.max(1, Math.ceil((longest * 7 + 12) / columnWidth));
    for (let column = 0; column < grid.columns; column += everyColumn) {
      const name = steps[column * grid.stepsPerColumn] ?? "";
      context.fillText(name, LEFT + (column + 0.5) * columnWidth, height + 15);
    }
  }

  const cellAt = (event: PointerEvent) => {
    const bounds = event.currentTarget.getBoundingClientRect();
    const column = Math.floor((event.clientX - bounds.left - LEFT) / columnWidth);
    const row = Math.floor((event.clientY - bounds.top - TOP) / rowHeight);
    const inside = row >= 0 && row < grid.rows && column >= 0 && column < grid.columns;
    return inside ? { row, column } : null;
  };
  const rankAt = ({ row, column }: Cell) => {
    const largest = grid.rankOf[row * grid.columns + column] ?? -1;
    return largest >= 0 ? largest : (positions[row * grid.ranksPerRow] ?? 0);
  };
  const pick = (cell: Cell) => {
    const worker = ranks.worker[rankAt(cell)];
    const name = steps[cell.column * grid.stepsPerColumn];
    if (worker !== undefined && name !== undefined) onPick(worker, name);
  };
  const say = (cell: Cell) => {
    const rank = rankAt(cell);
    const worker = ranks.worker[rank] ?? "";
    const first = cell.column * grid.stepsPerColumn;
    const last = Math.min(first + grid.stepsPerColumn, steps.length) - 1;
    const [from = "", to = ""] = [steps[first], steps[last]];
    const amount = value(known(grid.values[cell.row * grid.columns + cell.column]), heat.unit);
    return text.cell(
      rankName(ranks.rank[rank] ?? null, worker),
      from === to ? from : text.span(from, to),
      grid.stepsPerColumn > 1 ? text.atMost(amount) : amount,
    );
  };
  // Another grid may be smaller.
  const at = {
    row: Math.min(cursor.row, grid.rows - 1),
    column: Math.min(cursor.column, grid.columns - 1),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(at, event.key, grid);
    if (next) setCursor(next);
    else if (event.key === "Enter" || event.key === " ") pick(at);
    else return;
    event.preventDefault();
  };
  const told = pointed ?? (focused ? at : null);
  const amountOf = (amount: number) => value(known(amount), heat.unit);
  const clipped = grid.highest > grid.most;
  const merged = grid.ranksPerRow > 1 || grid.stepsPerColumn > 1;
  const outliers = heat.outliers.length;
  return (
    <div className="heat">
      <div
        ref={box}
        className="heat-picture"
        role="slider"
        tabIndex={0}
        aria-description={text.keys}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, grid.rows * grid.columns)}
        aria-valuenow={at.row * grid.columns + at.column + 1}
        aria-valuetext={say(at)}
        aria-label={text.summary(
          text.metrics[metric],
          count(heat.ranks),
          count(heat.steps),
          amountOf(grid.least),
          amountOf(grid.highest),
        )}
        onKeyDown={onKeyDown}
        onFocus={(event) => setFocused(event.currentTarget.matches(":focus-visible"))}
        onBlur={() => setFocused(false)}
        onPointerMove={(event) => setPointed(cellAt(event))}
        onPointerLeave={() => setPointed(null)}
        onPointerDown={(event) => {
          const cell = event.button === 0 ? cellAt(event) : null;
          if (cell) pick(cell);
        }}
      >
        <canvas ref={canvas} style={{ width: "100%", height: TOP + height + BOTTOM }} />
        {focused && (
          <span
            className="heat-cursor"
            style={{
              left: LEFT + at.column * columnWidth,
              top: TOP + at.row * rowHeight,
              width: Math.max(4, columnWidth),
              height: Math.max(4, rowHeight),
            }}
          />
        )}
      </div>
      <p className="heat-foot num">
        <span className="muted">{amountOf(grid.least)}</span>
        <i className="heat-scale" aria-hidden="true" />
        <span className="muted">
          {clipped ? "≥ " : ""}
          {amountOf(grid.most)}
        </span>
        {outliers > 0 && <span className="badge warning">{text.outliers(count(outliers))}</span>}
        <span aria-live="off">{told ? say(told) : ""}</span>
        {merged && (
          <span className="muted heat-merged">
            {text.merged(count(grid.ranksPerRow), count(grid.stepsPerColumn))}
          </span>
        )}
      </p>
    </div>
  );
}

function known(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : value;
}

function shortName(ranks: RunRanks, rank: number, byNode: boolean): string {
  const host = byNode ? ranks.host[rank] : null;
  const number = ranks.rank[rank];
  const name = number === null || number === undefined ? (ranks.worker[rank] ?? "") : `${number}`;
  const whole = host ? `${host} ${name}` : name;
  return whole.length > 10 ? `…${whole.slice(-9)}` : whole;
}

/** From the surface to the accent, as pixels. */
function shades(element: Element): Uint32Array {
  const [property] = computedColors(element);
  const [accent, surface] = [parseColor(property("--accent")), parseColor(property("--surface"))];
  return Uint32Array.from({ length: SHADES }, (_, at) =>
    pack(css(mix(accent, surface, at / (SHADES - 1)))),
  );
}

/** A pixel a cell; the picture is stretched when it is drawn. */
function pictureOf(grid: Grid, colors: Uint32Array): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, grid.columns);
  canvas.height = Math.max(1, grid.rows);
  const pixels = new Uint8ClampedArray(heatPixels(grid, colors).buffer);
  if (pixels.length > 0) {
    const image = new ImageData(pixels, canvas.width, canvas.height);
    canvas.getContext("2d")?.putImageData(image, 0, 0);
  }
  return canvas;
}

interface Cell {
  readonly row: number;
  readonly column: number;
}

/** Where a key leads, within the grid; null for other keys. */
function moved({ row, column }: Cell, key: string, { rows, columns }: Grid): Cell | null {
  const to = (nextRow: number, nextColumn: number) => ({
    row: Math.max(0, Math.min(rows - 1, nextRow)),
    column: Math.max(0, Math.min(columns - 1, nextColumn)),
  });
  switch (key) {
    case "ArrowLeft":
      return to(row, column - 1);
    case "ArrowRight":
      return to(row, column + 1);
    case "ArrowUp":
      return to(row - 1, column);
    case "ArrowDown":
      return to(row + 1, column);
    case "PageUp":
      return to(row - 10, column);
    case "PageDown":
      return to(row + 10, column);
    case "Home":
      return to(row, 0);
    case "End":
      return to(row, columns - 1);
    default:
      return null;
  }
}
