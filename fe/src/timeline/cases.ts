/** Answers as the server would give them, for tests. */
import type { TimelineMeta } from "../api";
import { colorsOf } from "./colors";
import { decodeTile, type Tile } from "./decode";
import type { Look } from "./look";
import type { Scene } from "./scene";

export interface Item {
  readonly start: number;
  readonly end: number;
  readonly row: number;
  readonly name?: number;
  readonly count?: number;
  readonly operator?: number;
  readonly slack?: number;
  readonly category?: number;
  readonly fill?: number;
}

/** What kinds of tiles there are, by whether they have operators and slack. */
const KINDS = { tile: 1, operators: 4, slack: 5, both: 6, derived: 7 } as const;

/** A tile of the protocol, byte for byte. `lanes`: by number. */
export function tileBytes(
  lanes: Readonly<Record<number, readonly Item[]>>,
  { level = 1, index = 0, begin = 0, tick = 1, kind = "tile" as keyof typeof KINDS } = {},
): ArrayBuffer {
  const numbers = Object.keys(lanes).map(Number);
  const items = numbers.flatMap((lane) => lanes[lane] ?? []);
  const operators = ["operators", "both", "derived"].includes(kind);
  const slack = ["slack", "both"].includes(kind);
  const wide = 22 + (operators ? 4 : 0) + (slack ? 4 : 0);
  const buffer = new ArrayBuffer(44 + 8 * numbers.length + wide * items.length);
  const view = new DataView(buffer);
  for (const [at, word] of [0x314c5454, KINDS[kind], level].entries())
    view.setUint32(4 * at, word, true);
  view.setInt32(12, index, true);
  view.setFloat64(16, begin, true);
  view.setFloat64(24, tick, true);
  view.setUint32(32, numbers.length, true);
  view.setUint32(36, items.length, true);
  let at = 40;
  const word = (value: number) => {
    view.setInt32(at, value, true);
    at += 4;
  };
  numbers.forEach(word);
  let first = 0;
  for (const lane of numbers) {
    word(first);
    first += lanes[lane]?.length ?? 0;
  }
  word(first);
  for (const { start } of items) word(start);
  for (const { end } of items) word(end);
  for (const { row } of items) word(row);
  for (const { name = 0 } of items) word(name);
  for (const { count = 1 } of items) word(count);
  if (operators) for (const { operator = -1 } of items) word(operator);
  if (slack)
    for (const { slack: value = Number.NaN } of items) {
      view.setFloat32(at, value, true);
      at += 4;
    }
  const bytes = new Uint8Array(buffer, at);
  for (const [i, { category = 0, fill = 255 }] of items.entries()) {
    bytes[i] = category;
    bytes[items.length + i] = fill;
  }
  return buffer;
}

export function tileOf(...args: Parameters<typeof tileBytes>): Tile {
  return decodeTile(tileBytes(...args));
}

export const TRACK_TEXTS = { bands: {}, idleThreads: (n: string) => `${n} idle` };

/** What the server says of a rank with one thread and one counter; `more` in place of what differs. */
export function metaOf(more: Partial<TimelineMeta> = {}): TimelineMeta {
  return {
    meta: {} as TimelineMeta["meta"],
    version: "1",
    begin_ns: 0,
    end_ns: 65_536,
    origin_ns: "0",
    events: {
      total: 2,
      slices: 2,
      instants: 0,
      flows: 0,
      counters: 0,
      metadata: 0,
      too_deep: 0,
      other: 0,
    },
    names: 0,
    categories: ["kernel"],
    levels: [{ level: 0, width_ns: 0, tile_ns: 65_536 }],
    tracks: [
      {
        id: 0,
        parent: null,
        kind: "process",
        name: "python 42",
        role: null,
        pid: "42",
        tid: null,
        begin_ns: 0,
        end_ns: 0,
        device: null,
        slices: 2,
        instants: 0,
        busy_ns: 0,
      },
      {
        id: 1,
        parent: 0,
        kind: "thread",
        name: "thread 42",
        role: "main",
        pid: "42",
        tid: "42",
        begin_ns: 0,
        end_ns: 0,
        device: null,
        slices: 2,
        instants: 0,
        busy_ns: 0,
      },
    ],
    lanes: {
      track: [1],
      band: ["host"],
      depth: [0],
      slices: [2],
      busy_ns: [0],
      begin_ns: [0],
      end_ns: [0],
    },
    steps: { rule: "none", names: [], start_ns: [], duration_ns: [] },
    counters: [],
    ...more,
  };
}

/** A canvas without pixels: it keeps what is written on it. */
export function fakeContext(): { context: CanvasRenderingContext2D; texts: string[] } {
  const texts: string[] = [];
  const known: Record<string, unknown> = {
    createImageData: (width: number, height: number) => ({
      width,
      height,
      data: new Uint8ClampedArray(4 * width * height),
    }),
    measureText: (text: string) => ({ width: 6 * text.length }),
    fillText: (text: string) => texts.push(text),
  };
  const context = new Proxy(known, {
    get: (all, name) => all[String(name)] ?? (() => undefined),
    set: () => true,
  });
  return { context: context as unknown as CanvasRenderingContext2D, texts };
}

export const LOOK: Look = { colorBy: "category", least: 0, found: null, slack: null };

/** A picture in which nothing is chosen; `more` is what is different. */
export function emptyScene(
  more: Pick<Scene, "sources" | "rows" | "camera"> & Partial<Scene>,
): Scene {
  return {
    top: 0,
    height: more.rows.height,
    colors: colorsOf(() => "#336699", "sans"),
    look: LOOK,
    selected: null,
    from: null,
    peers: [],
    hovered: null,
    mark: null,
    flags: null,
    steps: [],
    arrows: [],
    ...more,
  };
}
