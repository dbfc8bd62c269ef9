/** A lane that the server computes: pieces of the critical path, gaps by their causes, or phases. */
import { momentIn } from "../../draw";
import { partColor, partName } from "../../draw/parts";
import { count, duration } from "../../format";
import { partsTexts, textFor, timelineTexts } from "../../i18n";
import { type Camera, nsPerPixel, timeAt } from "../camera";
import { PARTS_FROM } from "../colors";
import { NO_NAME } from "../decode";
import { DerivedSource, type DerivedTiles } from "../derivedTiles";
import { gather, type Items, itemAt } from "../items";
import { drawItems } from "../lanes";
import { levelFor } from "../levels";
import type { RankTiles } from "../rankTiles";
import type { PickedSlice } from "../scene";
import type { Hit, TrackRenderer } from "./renderer";

/** In place of the number of an event. */
export const NO_ROW = 0xffffffff;

const text = timelineTexts;
const HEIGHT = 24;
const INSET = 3;
const REACH = 4;
/** Parts that an event is: its name says more than theirs. */
const WORK: readonly string[] = ["compute", "communication", "copy", "operator", "python", "api"];

export const derived: TrackRenderer = {
  height: () => HEIGHT,
  source: DerivedSource,
  draw: ({ track, y, height }, frame) => {
    const source = frame.sourceOf(track.worker);
    const shown = source?.source(DerivedSource).lane(track.part);
    if (!source || !shown) return;
    const { tiles } = shown;
    const { items, scene } = frame;
    gatherDerived(items, scene.camera, source, tiles, shown.lane);
    const place = { y: y + INSET, height: height - 2 * INSET };
    drawItems(
      frame,
      place,
      (item) => PARTS_FROM + (tiles.colors[items.category[item] ?? 0] ?? 0),
      (item) => titleOf(items, item, source, tiles),
    );
  },
  hit: ({ track }, x, _, { camera, items, sourceOf }) => {
    const source = sourceOf(track.worker);
    const shown = source?.source(DerivedSource).lane(track.part);
    if (!source || !shown) return null;
    gatherDerived(items, camera, source, shown.tiles, shown.lane);
    const item = itemAt(items, x, REACH);
    return item < 0 ? null : hitOf(items, item, source, shown.tiles, camera);
  },
  legend: ({ name, part }, source) => {
    const parts = source.source(DerivedSource).lane(part)?.tiles.about.parts;
    if (!parts) return null;
    const named = new Map(parts.map((id) => [partName(id), partColor(id)]));
    return {
      title: name,
      lines: [...named].map(([label, color]) => ({ label, value: "", color })),
    };
  },
};

/** What can be seen of a lane that is computed. */
function gatherDerived(
  items: Items,
  camera: Camera,
  source: RankTiles,
  tiles: DerivedTiles,
  lane: number,
): void {
  const level = levelFor(source.levels, nsPerPixel(camera));
  const pieces = tiles.pieces(level, source.own(camera.window));
  gather(items, lane, pieces, camera, source.offset);
}

/** The event that a piece belongs to; where it stands is not known yet. */
function pickedOf(items: Items, item: number, { worker }: RankTiles, camera: Camera): PickedSlice {
  const start = Math.round(timeAt(camera, items.x0[item] ?? 0));
  const end = Math.round(timeAt(camera, items.x1[item] ?? 0));
  return { worker, row: items.row[item] ?? 0, lane: -1, start, duration: end - start };
}

function partOf(items: Items, item: number, { about }: DerivedTiles): string {
  return about.parts[items.category[item] ?? 0] ?? "";
}

function eventName(items: Items, item: number, { names }: RankTiles): string | undefined {
  const name = items.name[item] ?? NO_NAME;
  return name === NO_NAME ? undefined : names.text(name);
}

function titleOf(items: Items, item: number, source: RankTiles, tiles: DerivedTiles): string {
  const part = partOf(items, item, tiles);
  const name = WORK.includes(part) ? eventName(items, item, source) : undefined;
  return name ?? partName(part);
}

function hitOf(
  items: Items,
  item: number,
  source: RankTiles,
  tiles: DerivedTiles,
  camera: Camera,
): Hit {
  const picked = pickedOf(items, item, source, camera);
  const part = partOf(items, item, tiles);
  const edge = tiles.about.edges[items.operator[item] ?? NO_NAME];
  const name = eventName(items, item, source);
  const pieces = items.count[item] ?? 1;
  const level = source.levels[levelFor(source.levels, nsPerPixel(camera))];
  const coarse = (level?.width_ns ?? 0) > 256;
  const time = (value: string) => (coarse ? `≈ ${value}` : value);
  const step = stepOf(source, picked.start - source.offset);
  return {
    picked: picked.row === NO_ROW ? null : picked,
    tip: (whole) => {
      source.names.flush();
      return {
        title: pieces > 1 ? text.pieces(count(pieces)) : partName(part),
        color: partColor(part),
        ...(pieces > 1 ? { subtitle: partName(part) } : {}),
        lines: [
          { label: text.start, value: time(momentIn(picked.start, whole, 1e6)) },
          { label: text.duration, value: time(duration(picked.duration)) },
          ...(name === undefined ? [] : [{ label: text.event, value: name }]),
          ...(edge === undefined
            ? []
            : tiles.of === "phases"
              ? [{ label: text.knownBy, value: textFor(partsTexts.evidence, edge) ?? edge }]
              : [{ label: text.waitedFor, value: text.edges[edge] ?? edge }]),
          ...(step === undefined ? [] : [{ label: text.step, value: step }]),
        ],
      };
    },
  };
}

/** The step in whose path a moment of the rank lies: the first that has not ended. */
function stepOf({ meta: { steps } }: RankTiles, time: number): string | undefined {
  const at = steps.start_ns.findIndex(
    (start, step) => time < start + (steps.duration_ns[step] ?? 0),
  );
  return steps.names[at];
}
