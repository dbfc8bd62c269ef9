/** The slices of the lanes of a rank, in blocks of lanes that are asked for together. */
import { type StepChoice, type TileColumns, timelineTile } from "../api";
import type { TimeWindow } from "../draw";
import { blocksOf } from "./blocks";
import { decodeTile, type Tile } from "./decode";
import { type Piece, pieces, tilesOver } from "./levels";
import type { RankTiles } from "./rankTiles";
import { TileRoom } from "./room";
import { TileStore } from "./store";
import { type Sight, Together, type TrackSource } from "./trackSource";

/** Bytes of tiles that are kept for all ranks together; see TileStore for what happens when a picture needs more. */
const KEPT = 48 * 1024 * 1024;

/** Lanes that are computed have the same tiles. */
export class LaneRoom extends TileRoom<Tile> {
  constructor() {
    super(KEPT);
  }
}

interface TileRequest {
  readonly key: string;
  readonly level: number;
  readonly tile: number;
  readonly block: number;
  readonly columns: TileColumns;
}

const PLAIN: TileColumns = { operators: false, slack: null };

export class LaneTiles extends Together implements TrackSource {
  private slack: StepChoice | null = null;
  private readonly blockOf = new Map<number, number>();
  private readonly tiles: TileStore<TileRequest, Tile>;
  /** Of the tiles that are wanted now. */
  private columns = PLAIN;

  constructor(private readonly rank: RankTiles) {
    super();
    const blocks = blocksOf(rank.tracks);
    for (const [block, lanes] of blocks.entries())
      for (const lane of lanes) this.blockOf.set(lane, block);
    this.tiles = new TileStore({
      load: async ({ level, tile, block, columns }, signal) =>
        decodeTile(await timelineTile(rank.key, level, tile, blocks[block] ?? [], columns, signal)),
      weigh: ({ bytes }) => bytes,
      room: rank.memory.of(LaneRoom),
      onChange: rank.changed,
    });
  }

  protected get stores() {
    return [this.tiles];
  }

  /** `how`: how steps are to be found for the slack of slices; null when it is not known of this rank, or not wanted. */
  findSlack(how: StepChoice | null): void {
    if (how === this.slack) return;
    this.slack = how;
    this.rank.changed();
  }

  /** The best that is here for a lane in a window, ns of the rank. */
  pieces(lane: number, level: number, window: TimeWindow): Piece<Tile>[] {
    const block = this.blockOf.get(lane);
    if (block === undefined) return [];
    return pieces(this.rank.levels, level, window, (at, tile) => this.tileOf(at, tile, block));
  }

  /** With all columns that were asked for last, if they are here: until then it is drawn with fewer. */
  private tileOf(level: number, tile: number, block: number): Tile | undefined {
    for (const columns of [this.columns, { ...this.columns, slack: null }, PLAIN]) {
      const found = this.tiles.get(tileKey(level, tile, block, columns));
      if (found) return found;
    }
    return undefined;
  }

  /** Asks for what the lanes of the rows need, what is seen first; then what is left and right of it and one level up. */
  want({ rows, level, window, look }: Sight): void {
    const columns = {
      operators: look.colorBy === "operator",
      slack: look.slack === null ? null : this.slack,
    };
    this.columns = columns;
    const { levels, meta } = this.rank;
    const now = levels[level];
    if (!now) return;
    const blocks = new Set<number>();
    for (const { lanes } of rows)
      for (const { lane } of lanes) blocks.add(this.blockOf.get(lane) ?? 0);
    const coarsest = levels.length - 1;
    const [first, last] = tilesOver(now, window);
    const seen: TileRequest[] = [];
    const ahead: TileRequest[] = [];
    const ask = (into: TileRequest[], at: number, tile: number, list: Iterable<number>) => {
      for (const block of list)
        into.push({ key: tileKey(at, tile, block, columns), level: at, tile, block, columns });
    };
    // Something to stretch while the rest is on its way, or when there is no room for it.
    const [far, farther] = tilesOver(levels[coarsest] ?? now, {
      start: meta.begin_ns,
      end: meta.end_ns,
    });
    const empty = [...blocks].filter((block) => this.isEmpty(level, first, last, block));
    for (let tile = far; tile <= farther; tile++) ask(seen, coarsest, tile, empty);
    for (let tile = first; tile <= last; tile++) ask(seen, level, tile, blocks);
    for (let tile = far; tile <= farther; tile++) ask(seen, coarsest, tile, blocks);
    const up = levels[level + 1];
    if (up) {
      const [left, right] = tilesOver(up, window);
      for (let tile = left; tile <= right; tile++) ask(ahead, level + 1, tile, blocks);
    }
    const inside = (tile: number) =>
      tile * now.tile_ns < meta.end_ns && (tile + 1) * now.tile_ns > meta.begin_ns;
    for (const tile of [first - 1, last + 1]) if (inside(tile)) ask(ahead, level, tile, blocks);
    this.tiles.want(unique(seen), unique(ahead));
  }

  private isEmpty(level: number, first: number, last: number, block: number): boolean {
    for (let tile = first; tile <= last; tile++)
      if (this.tileOf(level, tile, block) !== undefined) return false;
    return true;
  }
}

function tileKey(
  level: number,
  tile: number,
  block: number,
  { operators, slack }: TileColumns,
): string {
  const how = slack && `/slack ${slack.steps ?? ""} ${slack.step_pattern ?? ""}`;
  return `${level}/${tile}/${block}${operators ? "/operators" : ""}${how ?? ""}`;
}

function unique(requests: readonly TileRequest[]): TileRequest[] {
  return [...new Map(requests.map((request) => [request.key, request])).values()];
}
