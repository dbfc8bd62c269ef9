/** One picture of the tracks: their pixels, then everything that is written or drawn over them. */
import type { TimeWindow } from "../draw";
import { paintBetween } from "./between";
import { span, xOf } from "./camera";
import { paintArrows } from "./flows";
import { Items } from "./items";
import { rendererOf } from "./kinds";
import type { Frame } from "./kinds/renderer";
import { rowsBetween } from "./layout";
import { placeOf } from "./place";
import { Columns } from "./raster";
import { type PickedSlice, type Scene, sourceOf } from "./scene";
import { marksApart } from "./stepMarks";
import { type Label, LabelWriter } from "./text";
import type { TrackRow } from "./track";

const FONT_SIZE = 11;
/** Drawn for an instant, and at least for a selected slice. */
const LEAST_OUTLINE = 3;

/** Draws again and again onto the same canvas; what is large is kept from frame to frame. */
export class Painter {
  private readonly items = new Items();
  private readonly columns = new Columns();
  private image: ImageData | null = null;
  private readonly labels = new LabelWriter();

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
    const frame: Frame = {
      scene,
      camera: scene.camera,
      sourceOf: (worker) => sourceOf(scene, worker),
      raster,
      items: this.items,
      columns: this.columns,
      write: (label) => labels.push(label),
    };
    for (const row of shown) rendererOf(row.track).draw(row, frame);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.image, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `${FONT_SIZE}px ${scene.colors.font}`;
    this.background(context, scene, shown);
    context.fillStyle = scene.colors.text;
    const written = this.labels.write(context, labels);
    for (const peer of scene.peers) outline(context, scene, peer, true);
    for (const picked of [scene.from, scene.hovered, scene.selected])
      if (picked) outline(context, scene, picked, picked !== scene.hovered);
    paintArrows(context, scene.arrows, scene.colors, scene.top, written);
    paintBetween(context, scene);
    paintFlags(context, scene);
    paintMark(context, scene);
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
    for (const at of marksApart(scene.steps, camera)) {
      const x = Math.round(xOf(camera, at));
      if (x >= 0 && x <= camera.width) context.fillRect(x, 0, 1, height);
    }
    for (const { track, y, height: rowHeight, pinned } of shown) {
      context.fillStyle = colors.border;
      context.fillRect(0, y + rowHeight - top - 1, camera.width, 1);
      if (!track.isGroup && !pinned) continue;
      context.fillStyle = pinned ? colors.accentSoft : colors.surface2;
      context.fillRect(0, y - top, camera.width, rowHeight - 1);
    }
    context.fillStyle = colors.surface;
    context.fillRect(0, 0, camera.width, height);
    context.globalCompositeOperation = "source-over";
  }
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

/** Bands of the moments that something is about; what is narrower than a pixel is one pixel wide, and drawn once. */
function paintFlags(
  context: CanvasRenderingContext2D,
  { flags, camera, colors, height }: Scene,
): void {
  if (!flags) return;
  const band = ({ start, end }: TimeWindow, color: string, strong: boolean) => {
    const x0 = Math.max(0, Math.floor(xOf(camera, start)));
    const x1 = Math.min(camera.width, Math.max(Math.ceil(xOf(camera, end)), x0 + 1));
    if (x1 <= 0 || x0 >= camera.width) return x0;
    context.fillStyle = color;
    context.globalAlpha = strong ? 0.2 : 0.12;
    context.fillRect(x0, 0, x1 - x0, height);
    context.globalAlpha = strong ? 1 : 0.5;
    for (const x of x1 - x0 > 2 ? [x0, x1 - 1] : [x0]) context.fillRect(x, 0, 1, height);
    context.globalAlpha = 1;
    return x1;
  };
  let painted = Number.NEGATIVE_INFINITY;
  for (const [at, window] of flags.windows.entries())
    if (at !== flags.current && xOf(camera, window.end) >= painted)
      painted = band(window, colors.danger, false);
  const current = flags.windows[flags.current];
  if (current) band(current, colors.accent, true);
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
