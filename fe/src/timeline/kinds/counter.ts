/** A counter: the mean of each stretch of time as an area, and a paler band from its least to its largest value. */

import type { TimelineCounter } from "../../api";
import { momentIn } from "../../draw";
import { bytes, decimal, fraction, rate } from "../../format";
import { counterName, timelineTexts } from "../../i18n";
import { type Camera, nsPerPixel, timeAt, xOf } from "../camera";
import { CounterTiles } from "../counterTiles";
import { levelFor } from "../levels";
import type { RankTiles } from "../rankTiles";
import { fillRect } from "../raster";
import { HEAD, type Track, type TrackRow } from "../track";
import type { Frame, Rank, TrackRenderer } from "./renderer";

const text = timelineTexts;
const HEIGHT = 40;
const INSET = 4;

export const counter: TrackRenderer = {
  tracks: ({ meta, ...rank }) => meta.counters.map((each) => trackOf(each, rank)),
  height: ({ collapsed }) => (collapsed ? HEAD : HEIGHT),
  source: CounterTiles,
  draw: (row, frame) => {
    const source = frame.sourceOf(row.track.worker);
    if (source) draw(row, frame, source);
  },
  hit: ({ track }, x, _, { camera, sourceOf }) => {
    const source = sourceOf(track.worker);
    const time = timeAt(camera, x);
    const level = source && levelFor(source.meta.levels, nsPerPixel(camera));
    const values = source && counterAt(source, track, time, level ?? 0);
    if (!values) return null;
    const { min, max, mean, unit } = values;
    return {
      picked: null,
      tip: (whole) => ({
        title: track.name,
        lines: [
          { label: text.time, value: momentIn(time, whole, 1e6) },
          { label: text.mean, value: counterValue(mean, unit) },
          { label: text.between, value: `${counterValue(min, unit)} – ${counterValue(max, unit)}` },
        ],
      }),
    };
  },
};

/**
 * Counters stand below the process of their device, all but the first of them folded, so that threads are in sight; those
 * of no device below the rank, those of the file in a group of their own.
 */
function trackOf(
  { id, kind, name, device }: TimelineCounter,
  { key, ofDevice, group, root }: Omit<Rank, "meta">,
) {
  if (kind === "recorded")
    return {
      ...{ key: key(id), part: id, name },
      parent: group("counters", root, text.recordedCounters, "open"),
    };
  const number = deviceNumber(device);
  const around = ofDevice(number);
  const isAlone = number === null || kind === "busy";
  const parent = isAlone
    ? around
    : group(`counters.${device}`, around, text.counters(device), "folded");
  return { key: key(id), part: id, parent, name: counterName({ kind, name }) };
}

/** `GPU0`: 0. */
export function deviceNumber(device: string): number | null {
  const match = /(\d+)$/.exec(device);
  return match ? Number(match[1]) : null;
}

/** As pixels, for there can be thousands of bins. */
function draw(row: TrackRow, { raster, scene }: Frame, source: RankTiles): void {
  const { width, height, ratio } = raster;
  const { camera, top, colors } = scene;
  const known = source.source(CounterTiles).counter(row.track.part);
  if (!known) return;
  const { at, counter } = known;
  const low = Math.min(0, counter.min);
  const range = Math.max(counter.max, low + Number.MIN_VALUE) - low;
  const base = row.y - top + row.height - INSET;
  const yOf = (value: number) =>
    Math.round((base - ((value - low) / range) * (row.height - 2 * INSET)) * ratio);
  const bottom = Math.min(height, Math.round(base * ratio));
  for (const { x, end, min, max, mean } of binsOf(camera, source, at)) {
    const x0 = Math.max(0, Math.round(x * ratio));
    const x1 = Math.min(width, Math.max(x0 + 1, Math.round(end * ratio)));
    if (x1 <= x0) continue;
    const [least, most, middle] = [yOf(min), yOf(max), yOf(mean)];
    fillRect(raster, middle, bottom, x0, x1, colors.counter.area);
    fillRect(raster, most, middle, x0, x1, colors.counter.band);
    fillRect(raster, middle, Math.min(least, bottom), x0, x1, colors.counter.both);
    fillRect(raster, middle, middle + Math.ceil(ratio), x0, x1, colors.counter.line);
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
  const pieces = source.source(CounterTiles).pieces(level, source.own(camera.window));
  for (const { tile, from, to } of pieces) {
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
function counterAt(
  source: RankTiles,
  { part }: Track,
  time: number,
  level: number,
): { min: number; max: number; mean: number; unit: string } | null {
  const tiles = source.source(CounterTiles);
  const known = tiles.counter(part);
  if (!known) return null;
  const own = time - source.offset;
  for (const { tile } of tiles.pieces(level, { start: own, end: own })) {
    const values = tile.values[known.at];
    const bin = Math.floor((own - tile.begin) / tile.bin);
    const [min, max, mean] = [values?.min[bin], values?.max[bin], values?.mean[bin]];
    if (min === undefined || max === undefined || mean === undefined || Number.isNaN(max)) continue;
    return { min, max, mean, unit: known.counter.unit };
  }
  return null;
}

function counterValue(value: number, unit: string): string {
  if (unit === "fraction") return fraction(value, 1);
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes/s") return rate(value);
  return decimal(value, 1);
}
