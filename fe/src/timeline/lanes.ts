/** Lanes of slices, for all kinds of tracks that have some: what they need, how they are drawn, what lies at a point. */
import { hash, momentIn, type TimeWindow, type TooltipContent } from "../draw";
import { count, duration, fraction } from "../format";
import { timelineTexts, traceTexts } from "../i18n";
import { type Camera, nsPerPixel, timeAt } from "./camera";
import type { ColorBy } from "./colorBy";
import { colorIndex, hueOf, REST } from "./colors";
import { NO_NAME } from "./decode";
import { gather, type Items, itemAt } from "./items";
import type { Frame, Hit, View } from "./kinds/renderer";
import { LaneTiles } from "./laneTiles";
import { levelFor } from "./levels";
import type { RankTiles } from "./rankTiles";
import type { PickedSlice, Scene } from "./scene";
import type { LaneRow, TrackRow } from "./track";

/** Room above the first and below the last lane of a row. */
export const PADDING = 3;
const TEXT_FROM = 26;
const TEXT_PADDING = 4;
const BASE_LINE = 13;
/** Pixels next to a slice that still mean it. */
const REACH = 4;

export function drawLanes({ lanes }: TrackRow, frame: Frame): void {
  const { scene, items } = frame;
  for (const lane of lanes) {
    if (lane.y + lane.height < scene.top || lane.y > scene.top + scene.height) continue;
    const source = frame.sourceOf(lane.worker);
    if (!source) continue;
    gatherLane(items, scene.camera, source, lane.lane);
    drawItems(
      frame,
      lane,
      colorsFor(scene, source, lane, items),
      lane.labels ? (item) => source.names.label(items.name[item] ?? 0) : null,
    );
  }
}

/** What was gathered of a lane. `textOf`: the name of an item that is no cell; null where there is no room for names. */
export function drawItems(
  frame: Frame,
  place: { readonly y: number; readonly height: number },
  colorOf: (item: number) => number,
  textOf: ((item: number) => string | undefined) | null,
): void {
  const { scene, raster, items, columns } = frame;
  if (items.size === 0) return;
  columns.reset(raster.width);
  columns.add(items, raster.width, raster.ratio, colorOf);
  const gap = textOf ? Math.max(1, Math.round(raster.ratio)) : 0;
  const from = Math.max(0, Math.round((place.y - scene.top) * raster.ratio));
  const to = Math.round((place.y + place.height - scene.top) * raster.ratio) - gap;
  columns.write(raster, from, Math.min(raster.height, to), scene.colors.shades);
  if (textOf) writeNames(frame, place.y, textOf);
}

function writeNames(
  { scene, items, write }: Frame,
  y: number,
  textOf: (item: number) => string | undefined,
): void {
  const { x0, x1, count: slices, size } = items;
  for (let item = 0; item < size; item++) {
    const from = Math.max(0, x0[item] ?? 0);
    const width = Math.min(scene.camera.width, x1[item] ?? 0) - from;
    if (width < TEXT_FROM) continue;
    const several = slices[item] ?? 0;
    const text = several > 1 ? `${several} ×` : textOf(item);
    if (text)
      write({
        x: from + TEXT_PADDING,
        y: y - scene.top + BASE_LINE,
        width: width - 2 * TEXT_PADDING,
        text,
      });
  }
}

/** What can be seen of a lane of a rank. */
export function gatherLane(items: Items, camera: Camera, source: RankTiles, lane: number): void {
  const level = levelFor(source.meta.levels, nsPerPixel(camera));
  const pieces = source.source(LaneTiles).pieces(lane, level, source.own(camera.window));
  gather(items, lane, pieces, camera, source.offset);
}

function colorsFor(
  scene: Scene,
  source: RankTiles,
  lane: LaneRow,
  items: Items,
): (item: number) => number {
  const { colorBy, least, found, slack } = scene.look;
  const width = levelFor(source.meta.levels, nsPerPixel(scene.camera));
  const bucket = source.meta.levels[width]?.width_ns ?? 0;
  const perPixel = nsPerPixel(scene.camera);
  // A cell holds nothing as long as its bucket; what it may hold is not drawn faintly.
  const short = (item: number) =>
    (items.count[item] ?? 0) > 1
      ? bucket <= least
      : ((items.x1[item] ?? 0) - (items.x0[item] ?? 0)) * perPixel < least;
  const stream = hueOf(hash(lane.track));
  const hueBy: Record<ColorBy, (item: number, hashed: number) => number> = {
    category: (item) => source.hues[items.category[item] ?? 0] ?? 0,
    name: (_, hashed) => hueOf(hashed),
    stream: () => stream,
    operator: (item) => {
      const operator = items.operator[item] ?? NO_NAME;
      return operator === NO_NAME ? REST : hueOf(source.nameHash(operator));
    },
  };
  return (item) => {
    const name = items.name[item] ?? 0;
    const hashed = source.nameHash(name);
    const dimmed =
      (least > 0 && short(item)) ||
      (found !== null && !found(source.names, name)) ||
      // Where the slack is not known, NaN is not larger than anything.
      (slack !== null && (items.slack[item] ?? 0) > slack);
    return colorIndex(hueBy[colorBy](item, hashed), hashed >>> 8, dimmed);
  };
}

export function hitLanes({ lanes }: TrackRow, x: number, y: number, view: View): SliceHit | null {
  const lane = lanes.find((each) => y >= each.y && y < each.y + each.height);
  return lane ? hitLane(lane, x, view) : null;
}

/** The slice of a lane that is at `x`, or the nearest within reach. */
export function hitLane(
  { worker, lane }: LaneRow,
  x: number,
  { camera, items, sourceOf }: View,
  reach = REACH,
): SliceHit | null {
  const source = sourceOf(worker);
  if (!source) return null;
  gatherLane(items, camera, source, lane);
  const item = itemAt(items, x, reach);
  return item < 0 ? null : hitOf(items, item, source, lane, camera);
}

interface SliceHit extends Hit {
  readonly picked: PickedSlice;
}

/** One of the items of a lane. */
export function hitOf(
  items: Items,
  item: number,
  source: RankTiles,
  lane: number,
  camera: Camera,
): SliceHit {
  const start = timeAt(camera, items.x0[item] ?? 0);
  const end = timeAt(camera, items.x1[item] ?? 0);
  const level = source.meta.levels[levelFor(source.meta.levels, nsPerPixel(camera))];
  const picked = {
    worker: source.worker,
    row: items.row[item] ?? 0,
    lane,
    start: Math.round(start),
    duration: Math.round(end - start),
  };
  const drawn = {
    name: items.name[item] ?? 0,
    category: source.meta.categories[items.category[item] ?? 0] ?? "",
    count: items.count[item] ?? 0,
    fill: (items.fill[item] ?? 0) / 255,
    tick: Math.max(1, (level?.width_ns ?? 0) / 256),
  };
  return { picked, tip: (whole) => tipOf(picked, drawn, source, whole) };
}

interface Drawn {
  readonly name: number;
  readonly category: string;
  /** More than one: a cell, and the slice is the longest in it. */
  readonly count: number;
  /** Part of it in which something ran. */
  readonly fill: number;
  /** ns by which the times may be wrong: they come from a tile. */
  readonly tick: number;
}

const text = timelineTexts;

function tipOf(
  picked: PickedSlice,
  { name, category, count: slices, fill, tick }: Drawn,
  { names }: RankTiles,
  whole: TimeWindow,
): TooltipContent {
  const title = names.label(name) ?? "…";
  const full = names.text(name) ?? title;
  names.flush();
  const time = (value: string) => (tick > 1 ? `≈ ${value}` : value);
  const lines = [
    { label: text.start, value: time(momentIn(picked.start, whole, 1e6)) },
    { label: text.duration, value: time(duration(picked.duration)) },
    { label: text.category, value: traceTexts.categories[category] ?? category },
  ];
  // A short name can hide what two slices differ in.
  if (slices < 2) return full === title ? { title, lines } : { title, subtitle: full, lines };
  return {
    title: text.cell(count(slices)),
    subtitle: full,
    lines: [
      ...lines.slice(0, 2),
      { label: text.busy, value: fraction(fill, 0) },
      ...lines.slice(2),
    ],
  };
}
