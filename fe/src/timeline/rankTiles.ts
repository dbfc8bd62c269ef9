/** One rank in the timeline: its tracks, and everything about them that is here or on its way. */
import {
  type DerivedKind,
  type DerivedMeta,
  type StepChoice,
  type TileColumns,
  type TimelineKey,
  type TimelineMeta,
  timelineCounters,
  timelineNames,
  timelineTile,
} from "../api";
import { hash, type TimeWindow } from "../draw";
import { blocksOf } from "./blocks";
import { categoryHues } from "./colors";
import { type CounterTile, decodeCounters, decodeTile, type Tile } from "./decode";
import { DerivedTiles } from "./derivedTiles";
import { type Level, type Piece, pieces, tilesOver } from "./levels";
import { Names } from "./names";
import { TileRoom } from "./room";
import { type LinkedSnapshot, type SnapshotTile, SnapshotTiles } from "./snapshotTiles";
import { TileStore } from "./store";
import { type Track, trackKey } from "./track";

/** Bytes of tiles that are kept for all ranks together; see TileStore for what happens when a picture needs more. */
const KEPT = 48 * 1024 * 1024;
const KEPT_COUNTERS = 8 * 1024 * 1024;
const KEPT_SNAPSHOTS = 16 * 1024 * 1024;

/** Where the tiles of the ranks of a page are kept. */
export class TimelineMemory {
  readonly tiles = new TileRoom<Tile>(KEPT);
  readonly counters = new TileRoom<CounterTile>(KEPT_COUNTERS);
  readonly snapshots = new TileRoom<SnapshotTile>(KEPT_SNAPSHOTS);
}

interface TileRequest {
  readonly key: string;
  readonly level: number;
  readonly tile: number;
  readonly block: number;
  readonly columns?: TileColumns;
}

const PLAIN: TileColumns = { operators: false, slack: null };

/** What must be here to draw a picture. */
interface Wanted {
  readonly counters: boolean;
  readonly columns: TileColumns;
  /** Kinds of lanes that are computed. */
  readonly derived: ReadonlySet<DerivedKind>;
  readonly snapshot: boolean;
}

export class RankTiles {
  readonly names: Names;
  readonly hues: Uint8Array;
  private readonly blocks: readonly (readonly number[])[];
  private readonly blockOf = new Map<number, number>();
  private readonly trackOfLane = new Map<number, string>();
  private readonly nameHashes = new Map<number, number>();
  private readonly counters = new Map<string, number>();
  private readonly parents = new Map<string, string | null>();
  private readonly tiles: TileStore<TileRequest, Tile>;
  private readonly counterTiles: TileStore<TileRequest, CounterTile>;
  /** How steps are to be found for the slack of slices; null when it is not known of this rank, or not wanted. */
  slack: StepChoice | null = null;
  /** Of the tiles that are wanted now. */
  private columns = PLAIN;
  private readonly derivedTiles = new Map<DerivedKind, DerivedTiles>();
  /** Of the memory snapshot of the same process; null without one. */
  snapshot: SnapshotTiles | null = null;

  /** `offset`: ns to add to its times to have those of the page. */
  constructor(
    readonly key: TimelineKey,
    readonly meta: TimelineMeta,
    readonly offset: number,
    /** What `tracksOf` makes of `meta`. */
    readonly tracks: readonly Track[],
    private readonly onChange: () => void,
    /** To be shared by the ranks of a page. */
    private readonly memory = new TimelineMemory(),
  ) {
    this.hues = categoryHues(meta.categories);
    this.blocks = blocksOf(tracks);
    for (const [block, lanes] of this.blocks.entries())
      for (const lane of lanes) this.blockOf.set(lane, block);
    for (const { key: track, parent, lanes } of tracks) {
      this.parents.set(track, parent);
      for (const lane of lanes) this.trackOfLane.set(lane, track);
    }
    for (const [at, { id }] of meta.counters.entries())
      this.counters.set(trackKey(key.worker, id), at);
    this.names = new Names({
      total: meta.names,
      load: (which) => timelineNames(key, which),
      onChange,
    });
    this.tiles = new TileStore({
      load: async ({ level, tile, block, columns = PLAIN }, signal) =>
        decodeTile(await timelineTile(key, level, tile, this.blocks[block] ?? [], columns, signal)),
      weigh: ({ bytes }) => bytes,
      room: memory.tiles,
      onChange,
    });
    const ids = meta.counters.map(({ id }) => id);
    this.counterTiles = new TileStore({
      load: async ({ level, tile }, signal) =>
        decodeCounters(await timelineCounters(key, level, tile, ids, signal)),
      weigh: ({ bytes }) => bytes,
      room: memory.counters,
      onChange,
      most: 1,
    });
  }

  /** Lanes that are computed, as far as they are shown. */
  derived(of: DerivedKind): DerivedTiles | undefined {
    return this.derivedTiles.get(of);
  }

  /** Shows lanes that are computed, or takes them away. */
  derive(of: DerivedKind, about: DerivedMeta | null, how: StepChoice): void {
    const shown = this.derivedTiles.get(of);
    if (shown?.about === about && shown?.how === how) return;
    shown?.close();
    this.derivedTiles.delete(of);
    if (about?.refused !== null) return;
    const { key, levels, memory, onChange } = this;
    this.derivedTiles.set(
      of,
      new DerivedTiles(of, about, how, key, levels, memory.tiles, onChange),
    );
  }

  /** Shows the memory snapshot of the same process, or takes it away. */
  link(of: LinkedSnapshot | null): void {
    if (this.snapshot?.of === of) return;
    this.snapshot?.close();
    const { levels, memory, onChange } = this;
    this.snapshot = of && new SnapshotTiles(of, levels, memory.snapshots, onChange);
  }

  get levels(): readonly Level[] {
    return this.meta.levels;
  }

  get worker(): string {
    return this.key.worker;
  }

  /** In times of the page. */
  get whole(): TimeWindow {
    const { begin_ns, end_ns } = this.meta;
    return { start: begin_ns + this.offset, end: end_ns + this.offset };
  }

  /** The same without what the profiler wrote about its own recording, which may lie long after the last event. */
  get work(): TimeWindow {
    const own = this.meta.tracks.filter(
      ({ kind, parent, begin_ns, end_ns }) =>
        kind === "process" && parent === null && begin_ns < end_ns,
    );
    if (own.length === 0) return this.whole;
    return {
      start: Math.min(...own.map(({ begin_ns }) => begin_ns)) + this.offset,
      end: Math.max(...own.map(({ end_ns }) => end_ns)) + this.offset,
    };
  }

  get missing(): number {
    return this.stores.reduce((sum, { missing }) => sum + missing, 0);
  }

  /** Tiles of this picture that are not asked for, because they would need too much memory. */
  get leftOut(): number {
    return this.counterTiles.leftOut + this.stores.reduce((sum, { leftOut }) => sum + leftOut, 0);
  }

  get failure(): unknown {
    return this.stores.map(({ failure }) => failure).find((failure) => failure !== null) ?? null;
  }

  retry(): void {
    for (const store of [...this.stores, this.counterTiles]) store.retry();
  }

  close(): void {
    for (const store of [...this.stores, this.counterTiles]) store.close();
    this.derivedTiles.clear();
    this.snapshot = null;
  }

  /** Without which a picture is not complete. */
  private get stores(): readonly (TileStore<TileRequest, Tile> | DerivedTiles | SnapshotTiles)[] {
    return [
      this.tiles,
      ...this.derivedTiles.values(),
      ...(this.snapshot === null ? [] : [this.snapshot]),
    ];
  }

  /** The leaf that a lane belongs to. */
  trackOf(lane: number): string | undefined {
    return this.trackOfLane.get(lane);
  }

  /** The group around a track. */
  parentOf(track: string): string | null {
    return this.parents.get(track) ?? null;
  }

  /** A number that equal names have on every rank; another one until the name is known. */
  nameHash(name: number): number {
    const known = this.nameHashes.get(name);
    if (known !== undefined) return known;
    const text = this.names.text(name);
    if (text === undefined) return name;
    const found = hash(text);
    this.nameHashes.set(name, found);
    return found;
  }

  /** The counter a track shows, and its place among the values of tiles; null when it shows none. */
  counterOf(track: string): { at: number; max: number; min: number; unit: string } | null {
    const at = this.counters.get(track) ?? -1;
    const counter = this.meta.counters[at];
    return counter ? { at, min: counter.min, max: counter.max, unit: counter.unit } : null;
  }

  /** The best that is here for a lane in a window of the page. */
  piecesFor(lane: number, level: number, window: TimeWindow): Piece<Tile>[] {
    const block = this.blockOf.get(lane);
    if (block === undefined) return [];
    return pieces(this.meta.levels, level, this.own(window), (at, tile) =>
      this.tileOf(at, tile, block),
    );
  }

  /** What is computed, in a window of the page. */
  derivedPieces(of: DerivedKind, level: number, window: TimeWindow): Piece<Tile>[] {
    return this.derivedTiles.get(of)?.pieces(level, this.own(window)) ?? [];
  }

  /** With all columns that were asked for last, if they are here: until then it is drawn with fewer. */
  private tileOf(level: number, tile: number, block: number): Tile | undefined {
    for (const columns of [this.columns, { ...this.columns, slack: null }, PLAIN]) {
      const found = this.tiles.get(tileKey(level, tile, block, columns));
      if (found) return found;
    }
    return undefined;
  }

  counterPieces(level: number, window: TimeWindow): Piece<CounterTile>[] {
    return pieces(this.meta.levels, level, this.own(window), (at, tile) =>
      this.counterTiles.get(tileKey(at, tile, 0)),
    );
  }

  /** Asks for what these lanes need, what is seen first; then what is left and right of it and one level up. */
  want(
    lanes: Iterable<number>,
    level: number,
    window: TimeWindow,
    { counters, columns, derived, snapshot }: Wanted,
  ): void {
    this.columns = columns;
    const blocks = new Set<number>();
    for (const lane of lanes) blocks.add(this.blockOf.get(lane) ?? 0);
    const { levels } = this.meta;
    const now = levels[level];
    if (!now) return;
    const own = this.own(window);
    const coarsest = levels.length - 1;
    const [first, last] = tilesOver(now, own);
    const seen: TileRequest[] = [];
    const ahead: TileRequest[] = [];
    const ask = (into: TileRequest[], at: number, tile: number, list: Iterable<number>) => {
      for (const block of list)
        into.push({ key: tileKey(at, tile, block, columns), level: at, tile, block, columns });
    };
    // Something to stretch while the rest is on its way, or when there is no room for it.
    const [far, farther] = tilesOver(levels[coarsest] ?? now, this.own(this.whole));
    const empty = [...blocks].filter((block) => this.isEmpty(level, first, last, block));
    for (let tile = far; tile <= farther; tile++) ask(seen, coarsest, tile, empty);
    for (let tile = first; tile <= last; tile++) ask(seen, level, tile, blocks);
    for (let tile = far; tile <= farther; tile++) ask(seen, coarsest, tile, blocks);
    const up = levels[level + 1];
    if (up) {
      const [left, right] = tilesOver(up, own);
      for (let tile = left; tile <= right; tile++) ask(ahead, level + 1, tile, blocks);
    }
    const inside = (tile: number) =>
      tile * now.tile_ns < this.meta.end_ns && (tile + 1) * now.tile_ns > this.meta.begin_ns;
    for (const tile of [first - 1, last + 1]) if (inside(tile)) ask(ahead, level, tile, blocks);
    this.tiles.want(unique(seen), unique(ahead));
    for (const each of this.derivedTiles.values())
      each.want(level, derived.has(each.of) ? own : null);
    this.snapshot?.want(level, snapshot ? own : null);
    if (!counters || this.meta.counters.length === 0) return;
    const some: TileRequest[] = [];
    for (let tile = first; tile <= last; tile++)
      some.push({ key: tileKey(level, tile, 0), level, tile, block: 0 });
    this.counterTiles.want(some);
  }

  private isEmpty(level: number, first: number, last: number, block: number): boolean {
    for (let tile = first; tile <= last; tile++)
      if (this.tileOf(level, tile, block) !== undefined) return false;
    return true;
  }

  private own({ start, end }: TimeWindow): TimeWindow {
    return { start: start - this.offset, end: end - this.offset };
  }
}

function tileKey(
  level: number,
  tile: number,
  block: number,
  { operators, slack }: TileColumns = PLAIN,
): string {
  const how = slack && `/slack ${slack.steps ?? ""} ${slack.step_pattern ?? ""}`;
  return `${level}/${tile}/${block}${operators ? "/operators" : ""}${how ?? ""}`;
}

function unique(requests: readonly TileRequest[]): TileRequest[] {
  return [...new Map(requests.map((request) => [request.key, request])).values()];
}
