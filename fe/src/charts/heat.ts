/** Rows × columns of numbers as cells, in an order of the rows and merged to what fits on the screen. Pure. */

/** How far above the median the scale goes, in median deviations: what is farther is as dark as can be. */
const REACH = 12;
/** So that the least value differs from no value. */
const FAINTEST = 0.06;

export interface HeatData {
  /** Row after row; null where nothing is known. */
  readonly values: readonly (number | null)[];
  readonly columns: number;
  /** Rows as in `values`, first the one on top. */
  readonly order: readonly number[];
  /** Positions in `values`. */
  readonly outliers: readonly number[];
  /** Median of the values and their median deviation; null without any. */
  readonly middle: number | null;
  readonly spread: number | null;
}

export interface HeatGrid {
  readonly rows: number;
  readonly columns: number;
  /** How many rows and columns of the data share a cell at most. */
  readonly perRow: number;
  readonly perColumn: number;
  /** Cell after cell the largest of what is in it; NaN where nothing is known. */
  readonly values: Float64Array;
  /** Which item has it: place in the order × columns of the data + column; the first one where nothing is known. */
  readonly items: Int32Array;
  readonly least: number;
  /** The value that is as dark as can be. */
  readonly most: number;
  /** The largest one, which may be more. */
  readonly highest: number;
  /** Cells with an outlier, in order. */
  readonly marked: readonly number[];
}

export function heatGrid(data: HeatData, mostRows: number, mostColumns: number): HeatGrid {
  const { values: all, columns: wide, order } = data;
  const perRow = Math.max(1, Math.ceil(order.length / Math.max(1, mostRows)));
  const perColumn = Math.max(1, Math.ceil(wide / Math.max(1, mostColumns)));
  const rows = Math.ceil(order.length / perRow);
  const columns = Math.ceil(wide / perColumn);
  const values = new Float64Array(rows * columns).fill(Number.NaN);
  const items = Int32Array.from(
    values,
    (_, cell) => Math.floor(cell / columns) * perRow * wide + (cell % columns) * perColumn,
  );
  let least = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (const [place, row] of order.entries()) {
    const first = Math.floor(place / perRow) * columns;
    for (let column = 0; column < wide; column++) {
      const value = all[row * wide + column] ?? null;
      if (value === null) continue;
      if (value < least) least = value;
      if (value > highest) highest = value;
      const cell = first + Math.floor(column / perColumn);
      if ((values[cell] as number) >= value) continue;
      values[cell] = value;
      items[cell] = place * wide + column;
    }
  }
  const most = topOf(data, least, highest);
  const marked = markedCells(data, columns, perRow, perColumn);
  return { rows, columns, perRow, perColumn, values, items, least, most, highest, marked };
}

function markedCells(
  { outliers, order, columns: wide }: HeatData,
  columns: number,
  perRow: number,
  perColumn: number,
): number[] {
  const places = new Map(order.map((row, place) => [row, place]));
  const cells = outliers.flatMap((at) => {
    const place = places.get(Math.floor(at / wide));
    if (place === undefined) return [];
    return Math.floor(place / perRow) * columns + Math.floor((at % wide) / perColumn);
  });
  return [...new Set(cells)].sort((a, b) => a - b);
}

/** Where the scale ends. One far outlier must not make all others look alike. */
function topOf({ middle, spread }: HeatData, least: number, most: number): number {
  if (middle === null || spread === null || spread <= 0) return most;
  return Math.max(least, Math.min(most, middle + REACH * spread));
}

/** How strong the colour of a value is, 0…1; a grid of equal values is faint throughout. */
export function heatOf({ least, most }: HeatGrid, value: number): number {
  const part = most > least ? Math.min(1, (value - least) / (most - least)) : 0;
  return FAINTEST + (1 - FAINTEST) * part;
}

/** A pixel for each cell, as the memory of an ImageData holds it; nothing known is transparent. */
export function heatPixels(grid: HeatGrid, colors: Uint32Array): Uint32Array<ArrayBuffer> {
  const pixels = new Uint32Array(grid.values.length);
  const last = colors.length - 1;
  for (let cell = 0; cell < pixels.length; cell++) {
    const value = grid.values[cell] as number;
    if (!Number.isNaN(value)) pixels[cell] = colors[Math.round(heatOf(grid, value) * last)] ?? 0;
  }
  return pixels;
}
