/** Ranks × steps as a grid of numbers, in an order and merged to what fits on the screen. Pure. */
import type { HeatMap, RunRanks } from "../../api";

export type Order = "rank" | "node" | "value";

/** How far above the median the scale goes, in median deviations: what is farther is as dark as can be. */
const REACH = 12;
/** So that the least value differs from no value. */
const FAINTEST = 0.06;

/** The values of an answer, made ready once: the order and the size of the picture change more often. */
export interface Cells {
  readonly ranks: number;
  readonly steps: number;
  /** Rank after rank; less than any number where nothing is known. */
  readonly values: Float64Array;
  /** Of each rank; -1 where nothing is known. */
  readonly means: Float64Array;
  readonly least: number;
  readonly highest: number;
}

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
export function orderOf(ranks: RunRanks, { means }: Cells, order: Order): number[] {
  const positions = ranks.worker.map((_, at) => at);
  if (order === "rank") return positions;
  if (order === "node") {
    return positions.sort((a, b) => (ranks.node[a] ?? 0) - (ranks.node[b] ?? 0) || a - b);
  }
  return positions.sort((a, b) => (means[b] as number) - (means[a] as number) || a - b);
}

export function cellsOf({ ranks, steps, values: all }: HeatMap): Cells {
  const values = new Float64Array(ranks * steps);
  const means = new Float64Array(ranks);
  let least = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (let rank = 0, at = 0; rank < ranks; rank++) {
    let sum = 0;
    let known = 0;
    for (let step = 0; step < steps; step++, at++) {
      const value = all[at] ?? Number.NEGATIVE_INFINITY;
      values[at] = value;
      if (value === Number.NEGATIVE_INFINITY) continue;
      sum += value;
      known += 1;
      if (value < least) least = value;
      if (value > highest) highest = value;
    }
    means[rank] = known > 0 ? sum / known : -1;
  }
  return { ranks, steps, values, means, least, highest };
}

export function heatGrid(
  heat: HeatMap,
  cells: Cells,
  order: readonly number[],
  mostRows: number,
  mostColumns: number,
): Grid {
  const { steps, values: all, least, highest } = cells;
  const ranksPerRow = Math.max(1, Math.ceil(order.length / Math.max(1, mostRows)));
  const stepsPerColumn = Math.max(1, Math.ceil(steps / Math.max(1, mostColumns)));
  const rows = Math.ceil(order.length / ranksPerRow);
  const columns = Math.ceil(steps / stepsPerColumn);
  const values = new Float64Array(rows * columns).fill(Number.NEGATIVE_INFINITY);
  const rankOf = new Int32Array(rows * columns).fill(-1);
  for (let position = 0; position < order.length; position++) {
    const rank = order[position] as number;
    const first = Math.floor(position / ranksPerRow) * columns;
    const end = (rank + 1) * steps;
    for (let column = 0, at = rank * steps; column < columns; column++) {
      const last = Math.min(at + stepsPerColumn, end);
      const before = values[first + column] as number;
      let largest = before;
      for (; at < last; at++) {
        const value = all[at] as number;
        if (value > largest) largest = value;
      }
      if (largest > before) {
        values[first + column] = largest;
        rankOf[first + column] = rank;
      }
    }
  }
  for (let cell = 0; cell < rankOf.length; cell++) {
    if (rankOf[cell] === -1) values[cell] = Number.NaN;
  }
  return {
    rows,
    columns,
    ranksPerRow,
    stepsPerColumn,
    values,
    rankOf,
    least,
    most: topOf(heat, least, highest),
    highest,
    marked: markedCells(heat, order, columns, ranksPerRow, stepsPerColumn),
  };
}

/** Cells with an outlier, in order. */
function markedCells(
  { outliers, steps }: HeatMap,
  order: readonly number[],
  columns: number,
  ranksPerRow: number,
  stepsPerColumn: number,
): number[] {
  if (outliers.length === 0) return [];
  const place = new Map(order.map((rank, at) => [rank, at]));
  const cells = outliers.flatMap((at) => {
    const position = place.get(Math.floor(at / steps));
    if (position === undefined) return [];
    return Math.floor(position / ranksPerRow) * columns + Math.floor((at % steps) / stepsPerColumn);
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
