/** The picture on the screen: where the camera is, when to draw, and what lies under a point. Without React. */
import type { TimeWindow } from "../draw";
import { paintAxis, paintFlagHeads } from "./axis";
import {
  type Camera,
  clamped,
  fitted,
  nsPerPixel,
  panned,
  showing,
  snapped,
  span,
  timeAt,
  xOf,
  zoomed,
} from "./camera";
import { arrowsOf, type Flow } from "./flows";
import { Painter } from "./frame";
import { Items, itemAt } from "./items";
import { rendererOf } from "./kinds";
import type { Hit, View } from "./kinds/renderer";
import { gatherLane, hitLane, hitOf } from "./lanes";
import { rowAt, rowsBetween } from "./layout";
import { levelFor } from "./levels";
import type { RankTiles, SourceClass } from "./rankTiles";
import { type PickedSlice, type Scene, sliceOf, sourceOf } from "./scene";
import type { LaneRow, TrackRow } from "./track";

/** What the page decides; all else the stage knows itself. */
export interface Shown
  extends Pick<
    Scene,
    "sources" | "rows" | "colors" | "look" | "selected" | "from" | "peers" | "mark" | "flags"
  > {
  /** All that can be looked at, ns of the page. */
  readonly whole: TimeWindow;
  readonly steps: readonly { readonly name: string; readonly start: number }[];
  readonly flows: readonly Flow[];
}

export interface StageState {
  readonly window: TimeWindow;
  /** Something that should be seen is not here yet. */
  readonly loading: boolean;
  readonly failure: unknown;
  /** Something in sight is drawn coarsely, because its tiles would need too much memory. */
  readonly coarse: boolean;
}

interface Elements {
  readonly canvas: HTMLCanvasElement;
  readonly axis: HTMLCanvasElement;
  /** Scrolls up and down; the canvas stays in sight. */
  readonly scroller: HTMLElement;
}

interface Events {
  /** After every picture in which one of these has changed. */
  readonly onState: (state: StageState) => void;
  readonly onScroll: (top: number, height: number) => void;
}

/** Pixels of the head above. */
export const AXIS = 34;
const SNAP = 6;

export class Stage {
  private camera: Camera = { window: { start: 0, end: 1 }, width: 1 };
  private hovered: PickedSlice | null = null;
  private pointer: number | null = null;
  private frame = 0;
  private told: StageState | null = null;
  private readonly painter = new Painter();
  private readonly items = new Items();
  private readonly observer: ResizeObserver;
  /** End listening to the ranks. */
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly elements: Elements,
    private shown: Shown,
    private readonly events: Events,
  ) {
    this.camera = { window: shown.whole, width: 1 };
    this.observer = new ResizeObserver(this.ask);
    this.observer.observe(elements.scroller);
    elements.scroller.addEventListener("scroll", this.ask);
    // Moved to a screen with other pixels.
    window.addEventListener("resize", this.ask);
    this.listen(shown.sources);
    this.ask();
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.elements.scroller.removeEventListener("scroll", this.ask);
    window.removeEventListener("resize", this.ask);
    this.listen([]);
  }

  /** Draws whenever one of the ranks has something else to draw. */
  private listen(sources: readonly RankTiles[]): void {
    for (const stop of this.stops) stop();
    this.stops = sources.map((source) => source.subscribe(this.ask));
  }

  show(shown: Shown): void {
    if (shown === this.shown) return;
    if (shown.sources !== this.shown.sources) this.listen(shown.sources);
    this.shown = shown;
    this.ask();
  }

  get window(): TimeWindow {
    return this.camera.window;
  }

  look(window: TimeWindow): void {
    const next = clamped(window, this.shown.whole);
    if (next.start === this.camera.window.start && next.end === this.camera.window.end) return;
    this.camera = { ...this.camera, window: next };
    this.ask();
  }

  /** Where the pointer is, pixels from the left of the canvas; null while it is elsewhere. */
  pointAt(x: number | null): void {
    this.pointer = x;
  }

  /** Around the pointer, if it is over the picture, else around the middle. */
  zoom(factor: number, x = this.pointer ?? this.camera.width / 2): void {
    this.look(zoomed(this.camera, factor, x, this.shown.whole));
  }

  pan(pixels: number): void {
    this.look(panned(this.camera, pixels, this.shown.whole));
  }

  panShare(share: number): void {
    this.pan(share * this.camera.width);
  }

  fit(what: TimeWindow, margin = 0.25): void {
    this.look(fitted(what, margin, this.shown.whole));
  }

  scroll(pixels: number): void {
    this.elements.scroller.scrollTop += pixels;
  }

  scrollShare(share: number): void {
    this.scroll(share * this.elements.scroller.clientHeight);
  }

  /** Brings a slice in sight, without zooming if it need not be. */
  reveal(picked: PickedSlice, place: LaneRow | TrackRow | null): void {
    const end = picked.start + picked.duration;
    this.look(showing(this.camera.window, { start: picked.start, end }, this.shown.whole));
    if (!place) return;
    const { scroller } = this.elements;
    const view = scroller.clientHeight;
    if (place.y < scroller.scrollTop || place.y + place.height > scroller.scrollTop + view)
      scroller.scrollTop = place.y - view / 2;
  }

  hover(picked: PickedSlice | null): void {
    if (picked?.row === this.hovered?.row && picked?.worker === this.hovered?.worker) return;
    this.hovered = picked;
    this.ask();
  }

  timeAt(x: number): number {
    return timeAt(this.camera, x);
  }

  /** `x`, `y`: pixels from the corner of the canvas. */
  hit(x: number, y: number): Hit | null {
    const height = y + this.elements.scroller.scrollTop;
    const row = rowAt(this.shown.rows.rows, height);
    return row && rendererOf(row.track).hit(row, x, height, this.view);
  }

  private get view(): View {
    const sources = (worker: string) => sourceOf(this.shown, worker);
    return { camera: this.camera, items: this.items, sourceOf: sources };
  }

  /** The time near `x` at which a slice under the pointer begins or ends, else the time itself. */
  snap(x: number, y: number): number {
    const picked = sliceOf(this.hit(x, y)?.picked);
    const time = this.timeAt(x);
    if (!picked) return time;
    const { start, duration } = picked;
    return snapped(time, [start, start + duration], SNAP * nsPerPixel(this.camera));
  }

  /** The slice before or behind one on its lane, as far as it is known. */
  neighbour(of: PickedSlice, by: -1 | 1): PickedSlice | null {
    const source = sourceOf(this.shown, of.worker);
    if (!source) return null;
    const at = { start: of.start, end: of.start + of.duration };
    const wide = Math.max(span(this.camera.window), span(at) * 2);
    const window = { start: at.start - wide, end: at.end + wide };
    const camera = { window, width: (this.camera.width * span(window)) / span(this.camera.window) };
    gatherLane(this.items, camera, source, of.lane);
    const x = xOf(camera, by < 0 ? at.start : at.end);
    const own = this.items.row.indexOf(of.row);
    const known = own >= 0 && own < this.items.size;
    const near = known ? own : itemAt(this.items, x, Number.POSITIVE_INFINITY);
    const [x0, x1] = [this.items.x0[near] ?? 0, this.items.x1[near] ?? 0];
    // What it is drawn together with is no neighbour.
    const item = known || (x0 <= x && x <= x1) ? near + by : near;
    if (item < 0 || item >= this.items.size) return null;
    return hitOf(this.items, item, source, of.lane, camera).picked;
  }

  /** The slice above or below one, on the next lane that has one at this time. */
  beside(of: PickedSlice, by: -1 | 1): PickedSlice | null {
    const lanes = this.shown.rows.rows.flatMap((row) => row.lanes);
    const at = lanes.findIndex(({ lane, worker }) => lane === of.lane && worker === of.worker);
    const x = xOf(this.camera, of.start + of.duration / 2);
    for (let next = at + by; at >= 0 && next >= 0 && next < lanes.length; next += by) {
      const lane = lanes[next];
      const hit = lane && hitLane(lane, x, this.view);
      if (hit) return hit.picked;
    }
    return null;
  }

  /** Where the arrows begin when nothing is selected: what is nearest to the middle of the first lane in sight. */
  first(): PickedSlice | null {
    const { scrollTop, clientHeight } = this.elements.scroller;
    const [from, to] = rowsBetween(this.shown.rows.rows, scrollTop, scrollTop + clientHeight);
    for (const row of this.shown.rows.rows.slice(from, to))
      for (const lane of row.lanes) {
        const hit = hitLane(lane, this.camera.width / 2, this.view, this.camera.width);
        if (hit) return hit.picked;
      }
    return null;
  }

  readonly ask = (): void => {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  };

  private draw(): void {
    const { canvas, axis, scroller } = this.elements;
    const ratio = window.devicePixelRatio || 1;
    // beside the names of tracks, whose width is that of timeline.css
    const width = Math.max(0, scroller.clientWidth - canvas.offsetLeft);
    const height = scroller.clientHeight;
    const context = sized(canvas, width, height, ratio);
    const head = sized(axis, width, AXIS, ratio);
    if (!context || !head || width === 0 || height === 0) return;
    this.camera = { ...this.camera, width };
    const { sources, flows, steps, whole, ...more } = this.shown;
    const top = scroller.scrollTop;
    this.want(top, height);
    const scene: Scene = {
      ...more,
      sources,
      camera: this.camera,
      top,
      height,
      hovered: this.hovered,
      steps: steps.map(({ start }) => start),
      arrows: arrowsOf(flows, this.camera),
    };
    this.painter.draw(context, scene, ratio);
    head.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintAxis(head, this.camera, AXIS, more.colors, steps, more.mark);
    paintFlagHeads(head, this.camera, AXIS, more.colors, more.flags);
    for (const { names } of sources) names.flush();
    this.events.onScroll(top, height);
    this.tell();
  }

  private want(top: number, height: number): void {
    const [from, to] = rowsBetween(this.shown.rows.rows, top - height / 2, top + 1.5 * height);
    const wanted = new Map<string, Map<SourceClass, TrackRow[]>>();
    for (const row of this.shown.rows.rows.slice(from, to)) {
      const { source } = rendererOf(row.track);
      if (!source) continue;
      const { worker } = row.track;
      const own = wanted.get(worker) ?? new Map<SourceClass, TrackRow[]>();
      wanted.set(worker, own);
      const rows = own.get(source);
      if (rows) rows.push(row);
      else own.set(source, [row]);
    }
    const { look, sources } = this.shown;
    for (const source of sources) {
      const level = levelFor(source.levels, nsPerPixel(this.camera));
      const window = source.own(this.camera.window);
      source.want(wanted.get(source.worker) ?? new Map(), { level, window, look });
    }
  }

  private tell(): void {
    const { sources } = this.shown;
    const state: StageState = {
      window: this.camera.window,
      loading: sources.some(({ missing }) => missing > 0),
      failure: sources.map(({ failure }) => failure).find((failure) => failure !== null) ?? null,
      coarse: sources.some(({ leftOut }) => leftOut > 0),
    };
    if (
      this.told?.window === state.window &&
      this.told.loading === state.loading &&
      this.told.failure === state.failure &&
      this.told.coarse === state.coarse
    )
      return;
    this.told = state;
    this.events.onState(state);
  }
}

/** A canvas with a pixel for every pixel of the screen; setting the size clears it, so only when it differs. */
function sized(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): CanvasRenderingContext2D | null {
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return canvas.getContext("2d");
}
