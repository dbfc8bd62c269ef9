/** A counter: the mean of each stretch of time as an area, and a paler band from its least to its largest value. */
import { nsPerPixel, xOf } from "./camera";
import type { Scene } from "./frame";
import type { TrackRow } from "./layout";
import { levelFor } from "./levels";
import type { Source } from "./source";

const INSET = 4;

export function paintCounter(
  context: CanvasRenderingContext2D,
  { camera, top, colors }: Scene,
  row: TrackRow,
  source: Source,
): void {
  const counter = source.counterOf(row.track.key);
  if (!counter) return;
  const low = Math.min(0, counter.min);
  const range = Math.max(counter.max, low + Number.MIN_VALUE) - low;
  const base = row.y - top + row.height - INSET;
  const yOf = (value: number) => base - ((value - low) / range) * (row.height - 2 * INSET);
  const level = levelFor(source.meta.levels, nsPerPixel(camera));
  const { start, end } = camera.window;
  for (const { tile, from, to } of source.counterPieces(level, camera.window)) {
    const values = tile.values[counter.at];
    if (!values) continue;
    for (let bin = 0; bin < values.max.length; bin++) {
      const begin = tile.begin + bin * tile.bin;
      if (begin + tile.bin <= from || begin >= to) continue;
      const time = begin + source.offset;
      if (time + tile.bin < start || time > end) continue;
      const [least, most, mean] = [values.min[bin], values.max[bin], values.mean[bin]];
      if (most === undefined || least === undefined || mean === undefined || Number.isNaN(most))
        continue;
      const x = xOf(camera, time);
      const width = Math.max(1, xOf(camera, time + tile.bin) - x + 0.5);
      context.fillStyle = colors.accent;
      context.globalAlpha = 0.45;
      context.fillRect(x, yOf(mean), width, base - yOf(mean));
      context.globalAlpha = 0.2;
      context.fillRect(x, yOf(most), width, Math.max(1, yOf(least) - yOf(most)));
      context.globalAlpha = 0.9;
      context.fillRect(x, yOf(mean), width, 1);
    }
  }
  context.globalAlpha = 1;
}

/** The values of a counter at a time of the page; null where none is known. */
export function counterAt(
  source: Source,
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
