/** A counter: the mean of each stretch of time as an area, and a paler band from its least to its largest value. */

import type { Raster } from "../draw";
import { type Camera, nsPerPixel, xOf } from "./camera";
import type { TrackRow } from "./layout";
import { levelFor } from "./levels";
import type { RankTiles } from "./rankTiles";
import type { Scene } from "./scene";

const INSET = 4;

/** As pixels, for there can be thousands of bins. */
export function rasterCounter(
  { pixels, width, height, ratio }: Raster,
  { camera, top, colors }: Scene,
  row: TrackRow,
  source: RankTiles,
): void {
  const counter = source.counterOf(row.track.key);
  if (!counter) return;
  const low = Math.min(0, counter.min);
  const range = Math.max(counter.max, low + Number.MIN_VALUE) - low;
  const base = row.y - top + row.height - INSET;
  const yOf = (value: number) =>
    Math.round((base - ((value - low) / range) * (row.height - 2 * INSET)) * ratio);
  const bottom = Math.min(height, Math.round(base * ratio));
  const fill = (from: number, to: number, x0: number, x1: number, color: number) => {
    const last = Math.min(height, to);
    // A bin is a few pixels wide: a call for each row of it would cost more than the pixels.
    for (let y = Math.max(0, from); y < last; y++)
      for (let at = y * width + x0; at < y * width + x1; at++) pixels[at] = color;
  };
  for (const { x, end, min, max, mean } of binsOf(camera, source, counter.at)) {
    const x0 = Math.max(0, Math.round(x * ratio));
    const x1 = Math.min(width, Math.max(x0 + 1, Math.round(end * ratio)));
    if (x1 <= x0) continue;
    const [least, most, middle] = [yOf(min), yOf(max), yOf(mean)];
    fill(middle, bottom, x0, x1, colors.counter.area);
    fill(most, middle, x0, x1, colors.counter.band);
    fill(middle, Math.min(least, bottom), x0, x1, colors.counter.both);
    fill(middle, middle + Math.ceil(ratio), x0, x1, colors.counter.line);
  }
}

interface Bin {
  /** Pixels of the page. */
  readonly x: number;
  readonly end: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
}

function binsOf(camera: Camera, source: RankTiles, counter: number): Bin[] {
  const found: Bin[] = [];
  const level = levelFor(source.meta.levels, nsPerPixel(camera));
  const { start, end } = camera.window;
  for (const { tile, from, to } of source.counterPieces(level, camera.window)) {
    const values = tile.values[counter];
    if (!values) continue;
    for (let bin = 0; bin < values.max.length; bin++) {
      const begin = tile.begin + bin * tile.bin;
      const time = begin + source.offset;
      if (begin + tile.bin <= from || begin >= to || time + tile.bin < start || time > end)
        continue;
      const [min, max, mean] = [values.min[bin], values.max[bin], values.mean[bin]];
      if (min === undefined || max === undefined || mean === undefined || Number.isNaN(max))
        continue;
      const x = xOf(camera, time);
      found.push({ x, end: xOf(camera, time + tile.bin), min, max, mean });
    }
  }
  return found;
}

/** The values of a counter at a time of the page; null where none is known. */
export function counterAt(
  source: RankTiles,
  track: string,
  time: number,
  level: number,
): { min: number; max: number; mean: number; unit: string } | null {
  const counter = source.counterOf(track);
  if (!counter) return null;
  for (const { tile } of source.counterPieces(level, { start: time, end: time })) {
    const values = tile.values[counter.at];
    const bin = Math.floor((time - source.offset - tile.begin) / tile.bin);
    const [min, max, mean] = [values?.min[bin], values?.max[bin], values?.mean[bin]];
    if (min === undefined || max === undefined || mean === undefined || Number.isNaN(max)) continue;
    return { min, max, mean, unit: counter.unit };
  }
  return null;
}
