/** One picture of the tracks: lanes as pixels, then everything that is written or drawn over them. */
import { hash, type Raster } from "../draw";
import { type Camera, nsPerPixel, span, xOf } from "./camera";
import { type ColorBy, colorIndex, hueOf, REST } from "./colors";
import { rasterCounter } from "./counter";
import { NO_NAME } from "./decode";
import { paintArrows } from "./flows";
import { gather, Items } from "./items";
import { type LaneRow, rowsBetween, type TrackRow, type TrackRows } from "./layout";
import { levelFor } from "./levels";
import type { RankTiles } from "./rankTiles";
import { Columns } from "./raster";
import type { PickedSlice, Scene } from "./scene";

const TEXT_FROM = 26;
const TEXT_PADDING = 4;
const FONT_SIZE = 11;
/** Drawn for an instant, and at least for a selected slice. */
const LEAST_OUTLINE = 3;

interface Label {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly text: string;
}

/** Draws again and again onto the same canvas; what is large is kept from frame to frame. */
export class Painter {
  private readonly items = new Items();
  private readonly columns = new Columns();
  private image: ImageData | null = null;
  private widths = new Map<string, number>();

  /** `context`: of a canvas of the scene's size, `ratio` pixels of the screen for one of the page. */
  draw(context: CanvasRenderingContext2D, scene: Scene, ratio: number): void {
    const width = Math.max(1, Math.round(scene.camera.width * ratio));
    const height = Math.max(1, Math.round(scene.height * ratio));
    if (this.image?.width !== width || this.image.height !== height)
      this.image = context.createImageData(width, height);
    const raster = { pixels: new Uint32Array(this.image.data.buffer), width, height, ratio };
    raster.pixels.fill(0);
    const labels: Label[] = [];
    const [first, last] = rowsBetween(scene.rows.rows, scene.top, scene.top + scene.height);
    const shown = scene.rows.rows.slice(first, last);
    for (const row of shown) {
      const source = sourceOf(scene, row.track.worker);
      if (row.track.kind !== "counter") this.lanes(raster, scene, row, labels);
      else if (source) rasterCounter(raster, scene, row, source);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.image, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `${FONT_SIZE}px ${scene.colors.font}`;
    this.background(context, scene, shown);
    this.write(context, scene, labels);
    for (const picked of [scene.hovered, scene.selected])
      if (picked) outline(context, scene, picked, picked === scene.selected);
    paintArrows(context, scene.arrows, scene.colors, scene.top);
    paintMark(context, scene);
  }

  private lanes(raster: Raster, scene: Scene, row: TrackRow, labels: Label[]): void {
    for (const lane of row.lanes) {
      if (lane.y + lane.height < scene.top || lane.y > scene.top + scene.height) continue;
      const source = sourceOf(scene, lane.worker);
      if (!source) continue;
      gatherLane(this.items, scene.camera, source, lane.lane);
      if (this.items.size === 0) continue;
      this.columns.reset(raster.width);
      this.columns.add(
        this.items,
        raster.width,
        raster.ratio,
        colorsFor(scene, source, lane, this.items),
      );
      const gap = lane.labels ? Math.max(1, Math.round(raster.ratio)) : 0;
      const from = Math.max(0, Math.round((lane.y - scene.top) * raster.ratio));
      const to = Math.round((lane.y + lane.height - scene.top) * raster.ratio) - gap;
      this.columns.write(raster, from, Math.min(raster.height, to), scene.colors.shades);
      if (lane.labels) this.label(scene, source, lane, labels);
    }
  }

  private label(scene: Scene, source: RankTiles, lane: LaneRow, labels: Label[]): void {
    const { x0, x1, name, count, size } = this.items;
    for (let item = 0; item < size; item++) {
      const from = Math.max(0, x0[item] ?? 0);
      const width = Math.min(scene.camera.width, x1[item] ?? 0) - from;
      if (width < TEXT_FROM) continue;
      const slices = count[item] ?? 0;
      const text = slices > 1 ? `${slices} ×` : source.names.text(name[item] ?? 0);
      if (text)
        labels.push({
          x: from + TEXT_PADDING,
          y: lane.y - scene.top + 13,
          width: width - 2 * TEXT_PADDING,
          text,
        });
    }
  }

  private write(
    context: CanvasRenderingContext2D,
    { colors }: Scene,
    labels: readonly Label[],
  ): void {
    context.fillStyle = colors.text;
    if (this.widths.size > 20_000) this.widths.clear();
    for (const { x, y, width, text } of labels) {
      let needed = this.widths.get(text);
      if (needed === undefined) {
        needed = context.measureText(text.slice(0, 200)).width;
        this.widths.set(text, needed);
      }
      if (needed <= width) {
        context.fillText(text, x, y);
        continue;
      }
      const characters = Math.floor((Math.min(text.length, 200) * width) / needed) - 1;
      const cut = this.cut(context, text, characters, width);
      if (cut) context.fillText(cut, x, y);
    }
  }

  /** Letters are not equally wide: what is still too long loses some more. */
  private cut(
    context: CanvasRenderingContext2D,
    text: string,
    length: number,
    width: number,
  ): string {
    for (let characters = length; characters > 1; characters -= 2) {
      const cut = `${text.slice(0, characters)}…`;
      let needed = this.widths.get(cut);
      if (needed === undefined) {
        needed = context.measureText(cut).width;
        this.widths.set(cut, needed);
      }
      if (needed <= width) return cut;
    }
    return "";
  }

  /** Under the lanes, whose pixels are transparent where nothing ran. */
  private background(
    context: CanvasRenderingContext2D,
    scene: Scene,
    shown: readonly TrackRow[],
  ): void {
    const { colors, camera, top, height } = scene;
    context.globalCompositeOperation = "destination-over";
    context.fillStyle = colors.border;
    for (const at of scene.steps) {
      const x = Math.round(xOf(camera, at));
      if (x >= 0 && x <= camera.width) context.fillRect(x, 0, 1, height);
    }
    for (const { track, y, height: rowHeight, pinned } of shown) {
      context.fillStyle = colors.border;
      context.fillRect(0, y + rowHeight - top - 1, camera.width, 1);
      const group = track.lanes.length === 0 && track.kind !== "counter";
      if (!group && !pinned) continue;
      context.fillStyle = pinned ? colors.accentSoft : colors.surface2;
      context.fillRect(0, y - top, camera.width, rowHeight - 1);
    }
    context.fillStyle = colors.surface;
    context.fillRect(0, 0, camera.width, height);
    context.globalCompositeOperation = "source-over";
  }
}

export function sourceOf(
  { sources }: Pick<Scene, "sources">,
  worker: string,
): RankTiles | undefined {
  return sources.find((source) => source.worker === worker);
}

/** What can be seen of a lane of a rank. */
export function gatherLane(items: Items, camera: Camera, source: RankTiles, lane: number): void {
  const level = levelFor(source.meta.levels, nsPerPixel(camera));
  gather(items, lane, source.piecesFor(lane, level, camera.window), camera, source.offset);
}

function colorsFor(
  scene: Scene,
  source: RankTiles,
  lane: LaneRow,
  items: Items,
): (item: number) => number {
  const { colorBy, least, found } = scene.look;
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
    const dimmed = (least > 0 && short(item)) || (found !== null && !found(source, name));
    return colorIndex(hueBy[colorBy](item, hashed), hashed >>> 8, dimmed);
  };
}

/** Where a lane stands on the page, pixels from the top of all rows; of the group around it when that is collapsed. */
export function placeOf(
  rows: TrackRows,
  source: RankTiles,
  lane: number,
): LaneRow | TrackRow | null {
  const key = source.trackOf(lane);
  if (key === undefined) return null;
  let leaf: TrackRow | null = null;
  for (let at: string | null = key; at !== null && !leaf; at = source.parentOf(at))
    leaf = rows.rows.find(({ track }) => track.key === at) ?? null;
  return leaf?.lanes.find((each) => each.track === key && each.lane === lane) ?? leaf;
}

function outline(
  context: CanvasRenderingContext2D,
  scene: Scene,
  picked: PickedSlice,
  strong: boolean,
): void {
  const source = sourceOf(scene, picked.worker);
  const place = source && placeOf(scene.rows, source, picked.lane);
  if (!place) return;
  const { camera, colors, top } = scene;
  const x0 = Math.max(-4, xOf(camera, picked.start));
  const x1 = Math.min(camera.width + 4, xOf(camera, picked.start + picked.duration));
  if (x1 < -LEAST_OUTLINE || x0 > camera.width + LEAST_OUTLINE) return;
  const line = strong ? 2 : 1;
  context.strokeStyle = strong ? colors.accent : colors.text;
  context.lineWidth = line;
  const wide = Math.max(x1 - x0, LEAST_OUTLINE);
  context.strokeRect(
    x0 + line / 2 - 1,
    place.y - top + line / 2 - 1,
    wide - line + 2,
    place.height - line + 1,
  );
}

function paintMark(
  context: CanvasRenderingContext2D,
  { mark, camera, colors, height }: Scene,
): void {
  if (!mark || span(mark.window) < 0) return;
  const [x0, x1] = [xOf(camera, mark.window.start), xOf(camera, mark.window.end)];
  context.globalAlpha = 0.12;
  context.fillStyle = colors.accent;
  if (mark.kind === "range") context.fillRect(x0, 0, x1 - x0, height);
  context.globalAlpha = 1;
  for (const x of [x0, x1]) context.fillRect(Math.round(x), 0, 1, height);
}
