/** A picture of all ranks and steps, by pointer and by keys; the numbers are in the table of ranks, too. */
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import type { RankWorker } from "../../api";
import { crisp, readTheme, useBoxWidth } from "../../draw";
import { count, duration } from "../../format";
import { useTheme } from "../../host";
import { stackedColumnsTexts, distributedTexts as text } from "../../i18n";
import { useAddress } from "../../state";
import { Panel, Segmented } from "../../ui";
import { type Grid, heatGrid, heatOf } from "./heat";
import { params } from "./params";

const METRICS = (
  ["duration_ns", "computation_ns", "communication_only_ns", "wait_ns"] as const
).map((value) => ({ value, label: text.heatMetrics[value] }));
type Metric = (typeof METRICS)[number]["value"];

const HIGHEST = 360;
const TALLEST_ROW = 22;
const LOWEST_ROW = 3;
const NARROWEST_COLUMN = 3;
const LEFT = 68;
const TOP = 8;
const BOTTOM = 22;
/** So that the least value differs from no value. */
const FAINTEST = 0.06;

interface Props {
  readonly workers: readonly RankWorker[];
  readonly steps: readonly string[];
  readonly step: string | null;
  readonly selected: string | null;
  readonly onPick: (worker: string, step: string) => void;
}

export function HeatMap({ workers, steps, step, selected, onPick }: Props) {
  const [metric, setMetric] = useAddress(params.heat);
  return (
    <Panel
      title={text.heat}
      help={text.heatHelp}
      actions={
        <Segmented
          labelled
          label={text.heatMetric}
          value={metric}
          options={METRICS}
          onChange={setMetric}
        />
      }
    >
      <Picture
        workers={workers}
        steps={steps}
        step={step}
        selected={selected}
        onPick={onPick}
        metric={metric}
      />
    </Panel>
  );
}

function Picture({ workers, steps, step, selected, onPick, metric }: Props & { metric: Metric }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useBoxWidth();
  const theme = useTheme();
  const [pointed, setPointed] = useState<Cell | null>(null);
  const [cursor, setCursor] = useState({ row: 0, column: 0 });
  const [focused, setFocused] = useState(false);
  const plotWidth = Math.max(1, width - LEFT);
  const grid = useMemo(
    () =>
      heatGrid(
        workers,
        steps,
        metric,
        Math.floor(HIGHEST / LOWEST_ROW),
        Math.floor(plotWidth / NARROWEST_COLUMN),
      ),
    [workers, steps, metric, plotWidth],
  );
  const rowHeight = Math.min(TALLEST_ROW, HIGHEST / grid.rows);
  const height = Math.round(rowHeight * grid.rows);
  const columnWidth = plotWidth / Math.max(1, grid.columns);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page's computed style
  useEffect(() => {
    const element = canvas.current;
    const context = element && crisp(element, width, TOP + height + BOTTOM);
    if (!context || !element) return;
    context.translate(0, TOP);
    const colors = readTheme(element);
    context.font = `12px ${colors.font}`;
    context.fillStyle = colors.resolve("var(--accent)");
    for (let row = 0; row < grid.rows; row++) {
      for (let column = 0; column < grid.columns; column++) {
        const value = grid.values[row * grid.columns + column] as number;
        if (Number.isNaN(value)) continue;
        context.globalAlpha = FAINTEST + (1 - FAINTEST) * heatOf(grid, value);
        const gap = rowHeight > 8 && columnWidth > 8 ? 1 : 0;
        context.fillRect(
          LEFT + column * columnWidth,
          row * rowHeight,
          columnWidth - gap,
          rowHeight - gap,
        );
      }
    }
    context.globalAlpha = 1;
    mark(context, colors.text);
    labels(context, colors.muted);
  }, [grid, width, height, theme, step, selected, workers, steps]);

  function mark(context: CanvasRenderingContext2D, color: string) {
    const at = workers.findIndex(({ worker }) => worker === selected);
    context.strokeStyle = color;
    context.lineWidth = 1.5;
    if (at >= 0) {
      const row = Math.floor(at / grid.ranksPerRow);
      context.strokeRect(LEFT, row * rowHeight, plotWidth - 1, Math.max(2, rowHeight));
    }
    const place = step === null ? -1 : steps.indexOf(step);
    if (place >= 0) {
      const column = Math.floor(place / grid.stepsPerColumn);
      context.strokeRect(LEFT + column * columnWidth, 0, Math.max(2, columnWidth), height);
    }
  }

  /** As many names as stand beside each other. */
  function labels(context: CanvasRenderingContext2D, color: string) {
    context.fillStyle = color;
    context.textAlign = "right";
    const everyRow = Math.max(1, Math.ceil(16 / rowHeight));
    for (let row = 0; row < grid.rows; row += everyRow) {
      const worker = workers[row * grid.ranksPerRow];
      if (!worker) continue;
      const name = worker.rank === null ? worker.worker : String(worker.rank);
      const short = name.length > 9 ? `…${name.slice(-8)}` : name;
      context.fillText(short, LEFT - 8, row * rowHeight + Math.min(rowHeight, 16) / 2 + 4);
    }
    context.textAlign = "center";
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
  const pick = (row: number, column: number) => {
    const found = largestIn(grid, workers, steps, metric, row, column);
    if (found) onPick(found.worker, found.step);
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
    else if (event.key === "Enter" || event.key === " ") pick(at.row, at.column);
    else return;
    event.preventDefault();
  };
  const told = pointed ?? (focused ? at : null);
  const metricName = text.heatMetrics[metric];
  const merged = grid.ranksPerRow > 1 || grid.stepsPerColumn > 1;
  return (
    <div className="heat">
      <div
        ref={box}
        className="heat-picture"
        role="slider"
        tabIndex={0}
        aria-description={text.heatKeys}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, grid.rows * grid.columns)}
        aria-valuenow={at.row * grid.columns + at.column + 1}
        aria-valuetext={cellText(grid, workers, steps, at.row, at.column)}
        onKeyDown={onKeyDown}
        onFocus={(event) => setFocused(event.currentTarget.matches(":focus-visible"))}
        onBlur={() => setFocused(false)}
        aria-label={text.heatSummary(
          metricName,
          count(workers.length),
          count(steps.length),
          duration(known(grid.least)),
          duration(known(grid.most)),
        )}
        onPointerMove={(event) => setPointed(cellAt(event))}
        onPointerLeave={() => setPointed(null)}
        onPointerDown={(event) => {
          const cell = event.button === 0 ? cellAt(event) : null;
          if (cell) pick(cell.row, cell.column);
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
        <span className="muted">{duration(known(grid.least))}</span>
        <i className="heat-scale" aria-hidden="true" />
        <span className="muted">{duration(known(grid.most))}</span>
        <span aria-live="off">
          {told ? cellText(grid, workers, steps, told.row, told.column) : ""}
        </span>
        {merged && (
          <span className="muted heat-merged">
            {text.heatMerged(count(grid.ranksPerRow), count(grid.stepsPerColumn))}
          </span>
        )}
      </p>
    </div>
  );
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

function cellText(
  grid: Grid,
  workers: readonly RankWorker[],
  steps: readonly string[],
  row: number,
  column: number,
): string {
  const value = grid.values[row * grid.columns + column];
  const first = row * grid.ranksPerRow;
  const last = Math.min(workers.length, first + grid.ranksPerRow) - 1;
  const from = column * grid.stepsPerColumn;
  const to = Math.min(steps.length, from + grid.stepsPerColumn) - 1;
  const ranks = text.span(workers[first]?.worker ?? "", workers[last]?.worker ?? "");
  const names = text.span(steps[from] ?? "", steps[to] ?? "");
  const shown =
    value === undefined || Number.isNaN(value) ? stackedColumnsTexts.missing : duration(value);
  return last > first || to > from
    ? text.heatCellMerged(ranks, names, shown)
    : text.heatCell(ranks, names, shown);
}

/** Null for the bounds of a grid in which nothing is known. */
const known = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** The rank and step whose value a cell shows. */
function largestIn(
  grid: Grid,
  workers: readonly RankWorker[],
  steps: readonly string[],
  metric: Metric,
  row: number,
  column: number,
): { worker: string; step: string } | null {
  const names = steps.slice(column * grid.stepsPerColumn, (column + 1) * grid.stepsPerColumn);
  let best: { worker: string; step: string; value: number } | null = null;
  for (const worker of workers.slice(row * grid.ranksPerRow, (row + 1) * grid.ranksPerRow)) {
    for (const step of names) {
      const at = worker.steps.names.indexOf(step);
      const value = (at < 0 ? null : worker.steps[metric][at]) ?? null;
      if (value !== null && (best === null || value > best.value)) {
        best = { worker: worker.worker, step, value };
      }
    }
  }
  return best;
}
