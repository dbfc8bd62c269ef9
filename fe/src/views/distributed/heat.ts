/** Ranks × steps as a grid of numbers, merged to what fits on the screen. Pure. */
import type { RankWorker } from "../../api";
import type { Part } from "./ranks";

export interface Grid {
  readonly rows: number;
  readonly columns: number;
  /** How many ranks and steps share a cell at most. */
  readonly ranksPerRow: number;
  readonly stepsPerColumn: number;
  /** Row after row: the largest of what is in the cell; NaN where nothing was recorded. */
  readonly values: Float64Array;
  readonly least: number;
  readonly most: number;
}

export function heatGrid(
  workers: readonly RankWorker[],
  steps: readonly string[],
  part: Part,
  mostRows: number,
  mostColumns: number,
): Grid {
  const ranksPerRow = Math.max(1, Math.ceil(workers.length / Math.max(1, mostRows)));
  const stepsPerColumn = Math.max(1, Math.ceil(steps.length / Math.max(1, mostColumns)));
  const rows = Math.ceil(workers.length / ranksPerRow);
  const columns = Math.ceil(steps.length / stepsPerColumn);
  const values = new Float64Array(rows * columns).fill(Number.NaN);
  const place = new Map(steps.map((name, index) => [name, index]));
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  workers.forEach(({ steps: of }, index) => {
    const row = Math.floor(index / ranksPerRow);
    of.names.forEach((name, step) => {
      const value = of[part][step];
      const at = place.get(name);
      if (value === undefined || value === null || at === undefined) return;
      const cell = row * columns + Math.floor(at / stepsPerColumn);
      const before = values[cell] as number;
      values[cell] = Number.isNaN(before) ? value : Math.max(before, value);
      least = Math.min(least, value);
      most = Math.max(most, value);
    });
  });
  return { rows, columns, ranksPerRow, stepsPerColumn, values, least, most };
}

/** Where a value lies between the least and the most, 0…1; a grid of equal values is all 0. */
export function heatOf({ least, most }: Grid, value: number): number {
  return most > least ? (value - least) / (most - least) : 0;
}
