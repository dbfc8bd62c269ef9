/** Tiles of one kind in levels of detail: which of them are here, and which are to be asked for. */
import type { TimeWindow } from "../draw";
import { type Level, type Piece, pieces, tilesWanted } from "./levels";
import type { TileRoom } from "./room";
import { TileStore } from "./store";

export interface TileRequest {
  readonly key: string;
  readonly level: number;
  readonly tile: number;
}

interface Options<T> {
  readonly load: (request: TileRequest, signal: AbortSignal) => Promise<T>;
  /** Bytes, about. */
  readonly weigh: (tile: T) => number;
  readonly room: TileRoom<T>;
  readonly onChange: () => void;
}

export class LeveledTiles<T> {
  private readonly tiles: TileStore<TileRequest, T>;

  constructor(
    private readonly levels: readonly Level[],
    options: Options<T>,
  ) {
    this.tiles = new TileStore({ ...options, most: 2 });
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
  pieces(level: number, window: TimeWindow): Piece<T>[] {
    return pieces(this.levels, level, window, (at, tile) => this.tiles.get(`${at}/${tile}`));
  }

  /** Asks for what a window needs, and for what can stand in for it. */
  want(level: number, window: TimeWindow | null): void {
    const { seen, ahead } = tilesWanted(this.levels, level, window);
    this.tiles.want(seen, ahead);
  }
}
