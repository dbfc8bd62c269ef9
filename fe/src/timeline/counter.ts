/** A counter as an area: from the least to the largest value of each stretch of time, with the last one as a line. */
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
      const [least, most, last] = [values.min[bin], values.max[bin], values.last[bin]];
      if (most === undefined || least === undefined || last === undefined || Number.isNaN(most))
        continue;
      const x = xOf(camera, time);
      const width = Math.max(1, xOf(camera, time + tile.bin) - x + 0.5);
      context.fillStyle = colors.accent;
      context.globalAlpha = 0.25;
      context.fillRect(x, yOf(most), width, base - yOf(most));
      context.globalAlpha = 0.8;
      context.fillRect(x, yOf(most), width, Math.max(1.2, yOf(least) - yOf(most)));
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
): { min: number; max: number; last: number; unit: string } | null {
  const counter = source.counterOf(track);
  if (!counter) return null;
  for (const { tile } of source.counterPieces(level, { start: time, end: time })) {
    const values = tile.values[counter.at];
    const bin = Math.floor((time - source.offset - tile.begin) / tile.bin);
    const [min, max, last] = [values?.min[bin], values?.max[bin], values?.last[bin]];
    if (min === undefined || max === undefined || last === undefined || Number.isNaN(max)) continue;
    return { min, max, last, unit: counter.unit };
  }
  return null;
}
