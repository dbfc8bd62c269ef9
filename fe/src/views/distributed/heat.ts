/** Ranks × steps as a grid of numbers, in an order and merged to what fits on the screen. Pure. */
import type { HeatMap, RunRanks } from "../../api";

export type Order = "rank" | "node" | "value";

/** How far above the median the scale goes, in median deviations: what is farther is as dark as can be. */
const REACH = 12;
/** So that the least value differs from no value. */
const FAINTEST = 0.06;

export interface Grid {
  readonly rows: number;
  readonly columns: number;
  /** How many ranks and steps share a cell at most. */
  readonly ranksPerRow: number;
  readonly stepsPerColumn: number;
  /** Row after row the largest of what is in the cell; NaN where nothing is known. */
  readonly values: Float64Array;
  /** Which rank (its position in the answer) has it; -1 where nothing is known. */
  readonly rankOf: Int32Array;
  readonly least: number;
  /** The value that is as dark as can be. */
  readonly most: number;
  /** The largest one, which may be more. */
  readonly highest: number;
  /** Cells with an outlier. */
  readonly marked: readonly number[];
}

/** Positions of the ranks, first the one on top. Unknown ranks and values come last. */
export function orderOf(ranks: RunRanks, heat: HeatMap, order: Order): number[] {
  const positions = ranks.worker.map((_, at) => at);
  if (order === "rank") return positions;
  if (order === "node") {
    return positions.sort((a, b) => (ranks.node[a] ?? 0) - (ranks.node[b] ?? 0) || a - b);
  }
  const means = positions.map((at) => meanOf(heat, at));
  return positions.sort((a, b) => (means[b] as number) - (means[a] as number) || a - b);
}

function meanOf({ values, steps }: HeatMap, rank: number): number {
  let sum = 0;
  let known = 0;
  for (let at = rank * steps; at < (rank + 1) * steps; at++) {
    const value = values[at];
    if (value === null || value === undefined) continue;
    sum += value;
    known += 1;
  }
  return known > 0 ? sum / known : -1;
}

export function heatGrid(
  heat: HeatMap,
  order: readonly number[],
  mostRows: number,
  mostColumns: number,
): Grid {
  const { steps, values: all } = heat;
  const ranksPerRow = Math.max(1, Math.ceil(order.length / Math.max(1, mostRows)));
  const stepsPerColumn = Math.max(1, Math.ceil(steps / Math.max(1, mostColumns)));
  const rows = Math.ceil(order.length / ranksPerRow);
  const columns = Math.ceil(steps / stepsPerColumn);
  const values = new Float64Array(rows * columns).fill(Number.NaN);
  const rankOf = new Int32Array(rows * columns).fill(-1);
  const columnOf = Int32Array.from({ length: steps }, (_, step) =>
    Math.floor(step / stepsPerColumn),
  );
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  order.forEach((rank, position) => {
    const first = Math.floor(position / ranksPerRow) * columns;
    for (let step = 0, at = rank * steps; step < steps; step++, at++) {
      const value = all[at];
      if (value === null || value === undefined) continue;
      const cell = first + (columnOf[step] as number);
      // Also true of a cell without a value: it is NaN.
      if (!(value <= (values[cell] as number))) {
        values[cell] = value;
        rankOf[cell] = rank;
      }
      if (value < least) least = value;
      if (value > most) most = value;
    }
  });
  return {
    rows,
    columns,
    ranksPerRow,
    stepsPerColumn,
    values,
    rankOf,
    least,
    most: topOf(heat, least, most),
    highest: most,
    marked: markedCells(heat, order, columns, ranksPerRow, columnOf),
  };
}

/** Cells with an outlier, in order. */
function markedCells(
  { outliers, steps }: HeatMap,
  order: readonly number[],
  columns: number,
  ranksPerRow: number,
  columnOf: Int32Array,
): number[] {
  if (outliers.length === 0) return [];
  const place = new Map(order.map((rank, at) => [rank, at]));
  const cells = outliers.flatMap((at) => {
    const position = place.get(Math.floor(at / steps));
    if (position === undefined) return [];
    return Math.floor(position / ranksPerRow) * columns + (columnOf[at % steps] as number);
  });
  return [...new Set(cells)].sort((a, b) => a - b);
}

/** Where the scale ends. One far outlier must not make all others look alike. */
function topOf({ middle, spread }: HeatMap, least: number, most: number): number {
  if (middle === null || spread === null || spread <= 0) return most;
  return Math.max(least, Math.min(most, middle + REACH * spread));
}

/** How strong the colour of a value is, 0…1; a grid of equal values is faint throughout. */
export function heatOf({ least, most }: Grid, value: number): number {
  const part = most > least ? Math.min(1, (value - least) / (most - least)) : 0;
  return FAINTEST + (1 - FAINTEST) * part;
}

/** A pixel for each cell, as the memory of an ImageData holds it; nothing known is transparent. */
export function heatPixels(grid: Grid, colors: Uint32Array): Uint32Array<ArrayBuffer> {
  const pixels = new Uint32Array(grid.values.length);
  const last = colors.length - 1;
  for (let cell = 0; cell < pixels.length; cell++) {
    const value = grid.values[cell] as number;
    if (!Number.isNaN(value)) pixels[cell] = colors[Math.round(heatOf(grid, value) * last)] ?? 0;
  }
  return pixels;
}
