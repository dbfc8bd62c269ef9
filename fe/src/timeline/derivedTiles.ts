/** Lanes of one kind that the server computes for a rank: the critical path, why devices idle. */
import {
  type DerivedKind,
  type DerivedMeta,
  derivedTile,
  type StepChoice,
  type TimelineKey,
} from "../api";
import { partNumber } from "../draw/parts";
import { decodeTile, type Tile } from "./decode";
import { type Level, type Piece, pieces, tilesWanted } from "./levels";
import type { TileRoom } from "./room";
import { TileStore } from "./store";

interface Request {
  readonly key: string;
  readonly level: number;
  readonly tile: number;
}

export class DerivedTiles {
  /** By the code of a part, the number of its colour. */
  readonly colors: Uint8Array;
  private readonly tiles: TileStore<Request, Tile>;

  constructor(
    readonly of: DerivedKind,
    readonly about: DerivedMeta,
    /** How the steps are found that it is about. */
    readonly how: StepChoice,
    key: TimelineKey,
    readonly levels: readonly Level[],
    room: TileRoom<Tile>,
    onChange: () => void,
  ) {
    this.colors = Uint8Array.from(about.parts, partNumber);
    this.tiles = new TileStore({
      load: async ({ level, tile }, signal) =>
        decodeTile(await derivedTile(key, how, of, level, tile, signal)),
      weigh: ({ bytes }) => bytes,
      room,
      onChange,
      most: 2,
    });
  }

  get missing(): number {
    return this.tiles.missing;
  }

  get leftOut(): number {
    return this.tiles.leftOut;
  }

  get failure(): unknown {
    return this.tiles.failure;
  }

  retry(): void {
    this.tiles.retry();
  }

  close(): void {
    this.tiles.close();
  }

  /** The best that is here for a window, ns of the rank. */
  pieces(level: number, window: { start: number; end: number }): Piece<Tile>[] {
    return pieces(this.levels, level, window, (at, tile) => this.tiles.get(`${at}/${tile}`));
  }

  /** Asks for what a window needs, and for what can stand in for it. */
  want(level: number, window: { start: number; end: number } | null): void {
    const { seen, ahead } = tilesWanted(this.levels, level, window);
    this.tiles.want(seen, ahead);
  }
}
