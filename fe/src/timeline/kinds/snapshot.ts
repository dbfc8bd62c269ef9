/** A track of a memory snapshot of the same process: a curve of bytes, or the calls of its allocator. */
import type { AllocatorCall } from "../../api/snapshotTracks";
import { momentIn, pack } from "../../draw";
import { bytes, count, frameLabel } from "../../format";
import { timelineTexts } from "../../i18n";
import { nsPerPixel, timeAt, xOf } from "../camera";
import { levelFor } from "../levels";
import type { RankTiles } from "../rankTiles";
import { fillRect, SHADES } from "../raster";
import { SnapshotSource, type SnapshotTiles, type Stretch } from "../snapshotTiles";
import { lineColor } from "../snapshotTracks";
import { HEAD, type TrackRow } from "../track";
import type { Frame, Hit, TrackRenderer, View } from "./renderer";

const text = timelineTexts.snapshot;
const LINES = 64;
const CURVE = 40;
const INSET = 4;
const REACH = 4;
/** Pixels that the name of a call needs to the next one. */
const NAME = 120;

/** From what matters least to what matters most: the last is drawn over the others, and is what a point means. */
const ORDER: readonly AllocatorCall[] = [
  "segment_alloc",
  "segment_map",
  "segment_free",
  "segment_unmap",
  "snapshot",
  "oom",
];
const NAMED: readonly AllocatorCall[] = ["snapshot", "oom"];
const TAKES: readonly AllocatorCall[] = ["segment_alloc", "segment_map"];
/** Of memory that is taken of the device and given back: places among the series. */
const TAKEN = 0;
const GIVEN = 3;

export const snapshot: TrackRenderer = {
  height: ({ track, collapsed }) =>
    track.part === "calls" || collapsed ? HEAD : track.part === "requested" ? LINES : CURVE,
  source: SnapshotSource,
  draw: (row, frame) => {
    const source = frame.sourceOf(row.track.worker);
    const { tiles, picked } = source?.source(SnapshotSource) ?? {};
    if (!source || !tiles) return;
    if (row.track.part === "calls") drawCalls(row, frame, source, tiles);
    else drawCurve(row, frame, source, tiles);
    drawPicked(row, frame, source, picked ?? null);
  },
  hit: (row, x, y, view) => {
    const source = view.sourceOf(row.track.worker);
    const tiles = source?.source(SnapshotSource).tiles;
    if (!source || !tiles) return null;
    return row.track.part === "calls"
      ? hitCall(x, view, source, tiles)
      : hitCurve(row, x, y, view, source, tiles);
  },
};

function colorOf({ scene }: Frame, at: number): number {
  return scene.colors.shades[at * SHADES + SHADES - 1] ?? 0;
}

function levelOf({ camera }: View, { levels }: RankTiles): number {
  return levelFor(levels, nsPerPixel(camera));
}

// curves ----------------------------------------------------------------------------------------------------

function drawCurve(row: TrackRow, frame: Frame, source: RankTiles, tiles: SnapshotTiles): void {
  const { raster, scene } = frame;
  const { ratio, width } = raster;
  const base = row.y - scene.top + row.height - INSET;
  const high = row.height - 2 * INSET;
  const yOf = (value: number) => Math.round((base - (value / tiles.most) * high) * ratio);
  const { part = "" } = row.track;
  const lines = part === "requested" ? tiles.of.about.lines.length : 0;
  const { counter } = scene.colors;
  const window = source.own(frame.camera.window);
  let before: number | null = null;
  for (const stretch of tiles.stretches(part, levelOf(frame, source), window)) {
    const from = Math.round(xOf(frame.camera, stretch.from + source.offset) * ratio);
    const to = Math.round(xOf(frame.camera, stretch.to + source.offset) * ratio);
    const [left, right] = [Math.max(0, from), Math.min(width, Math.max(to, from + 1))];
    const [top, low] = [yOf(stretch.most), yOf(stretch.least)];
    if (right <= left) continue;
    if (lines > 0) {
      let sum = 0;
      for (let line = 0; line < lines; line++) {
        const size = stretch.lines(line);
        const bottom = yOf(sum);
        sum += size;
        fillRect(raster, yOf(sum), bottom, left, right, colorOf(frame, lineColor(line)));
      }
    } else {
      fillRect(raster, low, yOf(0), left, right, counter.area);
      fillRect(raster, top, low, left, right, counter.band);
    }
    const thin = Math.max(1, Math.ceil(ratio));
    fillRect(raster, top - thin, top, left, right, counter.line);
    // what goes up or down at once is a line, too
    if (before !== null && left > 0)
      fillRect(
        raster,
        Math.min(before, top) - thin,
        Math.max(before, top),
        left,
        left + 1,
        counter.line,
      );
    before = yOf(stretch.most);
  }
}

function hitCurve(
  row: TrackRow,
  x: number,
  y: number,
  view: View,
  source: RankTiles,
  tiles: SnapshotTiles,
): Hit | null {
  const curve = tiles.of.about.curves.find(({ kind }) => kind === row.track.part);
  if (!curve) return null;
  const { kind, exact } = curve;
  const time = timeAt(view.camera, x);
  const at = Math.floor(time - source.offset);
  // a pixel's width, so that a short column is met, too
  const until = at + Math.max(1, nsPerPixel(view.camera));
  const level = levelOf(view, source);
  const stretch = tiles
    .stretches(kind, level, { start: at, end: until })
    .find((each) => each.from < until && each.to > at);
  if (!stretch) return null;
  const said = (value: number) => (exact ? bytes(value) : text.atLeast(bytes(value)));
  const line = kind === "requested" ? lineAt(row, y, stretch, tiles) : -1;
  const name = tiles.of.about.lines[line];
  return {
    picked: {
      worker: source.worker,
      at: { type: "time", time: Math.max(at, Math.ceil(stretch.from)) - tiles.of.shift },
    },
    tip: (whole) => ({
      title: name === undefined ? row.track.name : frameLabel(name),
      subtitle: name === undefined ? undefined : row.track.name,
      lines: [
        { label: timelineTexts.time, value: momentIn(time, whole, 1e6) },
        ...(name === undefined ? [] : [{ label: text.ofLine, value: bytes(stretch.lines(line)) }]),
        stretch.least === stretch.most
          ? { label: text.curves[kind], value: said(stretch.most) }
          : {
              label: text.curves[kind],
              value: `${said(stretch.least)} – ${said(stretch.most)}`,
            },
      ],
    }),
  };
}

/** The line of the program that is drawn at a height; -1 above all of them. */
function lineAt(row: TrackRow, y: number, stretch: Stretch, tiles: SnapshotTiles): number {
  const base = row.y + row.height - INSET;
  const size = ((base - y) / (row.height - 2 * INSET)) * tiles.most;
  let sum = 0;
  for (const line of tiles.of.about.lines.keys()) {
    const next = sum + stretch.lines(line);
    if (size >= sum && size < next) return line;
    sum = next;
  }
  return -1;
}

// calls -----------------------------------------------------------------------------------------------------

interface Call {
  readonly call: AllocatorCall;
  readonly count: number;
  readonly bytes: number;
  readonly position: number;
  /** ns of the page, of the largest of them. */
  readonly time: number;
}

/** Those in sight; what is drawn over others comes later. */
function callsOf(view: View, source: RankTiles, tiles: SnapshotTiles): Call[] {
  const window = source.own(view.camera.window);
  const shift = tiles.of.shift + source.offset;
  const found: Call[] = [];
  for (const { tile, from, to } of tiles.pieces(levelOf(view, source), window)) {
    const { calls } = tile.answer;
    for (const [at, call] of calls.call.entries()) {
      const own = (calls.time_ns[at] ?? 0) + tiles.of.shift;
      if (own < from || own >= to) continue;
      found.push({
        call,
        count: calls.count[at] ?? 0,
        bytes: calls.bytes[at] ?? 0,
        position: calls.position[at] ?? 0,
        time: (calls.time_ns[at] ?? 0) + shift,
      });
    }
  }
  return found.sort((a, b) => ORDER.indexOf(a.call) - ORDER.indexOf(b.call));
}

function drawCalls(row: TrackRow, frame: Frame, source: RankTiles, tiles: SnapshotTiles): void {
  const { raster, scene } = frame;
  const { ratio, width } = raster;
  const [top, bottom] = [row.y - scene.top + INSET, row.y - scene.top + row.height - INSET];
  const middle = (top + bottom) / 2;
  const rows = (from: number, to: number) => [Math.round(from * ratio), Math.round(to * ratio)];
  const thick = Math.max(2, Math.round(2 * ratio));
  const known = tiles.known;
  if (known) {
    const ends = [known.start, known.end].map((time) =>
      Math.min(width, Math.max(0, Math.round(xOf(frame.camera, time + source.offset) * ratio))),
    );
    const y = Math.round(bottom * ratio);
    fillRect(raster, y, y + 1, ends[0] ?? 0, ends[1] ?? 0, pack(scene.colors.muted));
  }
  const names: { x: number; text: string }[] = [];
  for (const { call, time } of callsOf(frame, source, tiles)) {
    const x = xOf(frame.camera, time);
    const left = Math.round(x * ratio);
    if (left < -thick || left >= width) continue;
    // what takes memory is in the upper half, what gives it back in the lower one
    const [from = 0, to = 0] = rows(
      TAKES.includes(call) || NAMED.includes(call) ? top : middle,
      TAKES.includes(call) ? middle : bottom,
    );
    const right = Math.min(width, left + thick);
    fillRect(raster, from, to, Math.max(0, left), right, colorOfCall(call, frame));
    if (NAMED.includes(call)) names.push({ x, text: text.names[call] });
  }
  names.sort((a, b) => a.x - b.x);
  for (const [at, { x, text: name }] of names.entries()) {
    const room = (names[at + 1]?.x ?? Number.POSITIVE_INFINITY) - x;
    if (room >= NAME) frame.write({ x: x + 5, y: top + 12, width: NAME - 10, text: name });
  }
}

function colorOfCall(call: AllocatorCall, frame: Frame): number {
  const { colors } = frame.scene;
  if (NAMED.includes(call)) return pack(call === "oom" ? colors.danger : colors.text);
  return colorOf(frame, lineColor(TAKES.includes(call) ? TAKEN : GIVEN));
}

function hitCall(x: number, view: View, source: RankTiles, tiles: SnapshotTiles): Hit | null {
  const near = callsOf(view, source, tiles)
    .map((call) => ({ call, apart: Math.abs(xOf(view.camera, call.time) - x) }))
    .filter(({ apart }) => apart <= REACH);
  // of those in reach the one that matters most, then the nearest
  const found = near.sort(
    (a, b) => ORDER.indexOf(b.call.call) - ORDER.indexOf(a.call.call) || a.apart - b.apart,
  )[0]?.call;
  if (!found) return null;
  const { call, position, time } = found;
  return {
    picked: { worker: source.worker, at: { type: "record", position } },
    tip: (whole) => ({
      title: text.names[call],
      ...(found.count > 1 ? { subtitle: text.largestOf(count(found.count)) } : {}),
      lines: [
        { label: timelineTexts.time, value: momentIn(time, whole, 1e6) },
        ...(call === "snapshot"
          ? []
          : [
              {
                label: found.count > 1 ? text.together : text.size,
                value: bytes(found.bytes),
              },
            ]),
      ],
    }),
  };
}

function drawPicked(row: TrackRow, frame: Frame, source: RankTiles, picked: number | null): void {
  if (picked === null) return;
  const { raster, scene } = frame;
  const x = Math.round(xOf(frame.camera, picked + source.offset) * raster.ratio);
  if (x < 0 || x >= raster.width) return;
  const from = Math.round((row.y - scene.top) * raster.ratio);
  const to = Math.round((row.y - scene.top + row.height) * raster.ratio);
  const right = Math.min(raster.width, x + Math.max(1, Math.round(raster.ratio)));
  fillRect(raster, from, to, x, right, pack(scene.colors.accent));
}
