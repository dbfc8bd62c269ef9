/** Tiles of one kind in levels of detail: which of them are here, and which are to be asked for. */
import type { TimeWindow } from "../draw";
import { type Level, type Piece, pieces, tilesWanted } from "./levels";
import type { TileRoom } from "./room";
import { TileStore } from "./store";
import { type Sight, Together, type TrackSource } from "./trackSource";

interface TileRequest {
  readonly key: string;
  readonly level: number;
  readonly tile: number;
}

interface Options<T> {
  /** `window`: that of the tile, ns of the rank. */
  readonly load: (request: TileRequest, window: TimeWindow, signal: AbortSignal) => Promise<T>;
  /** Bytes, about. */
  readonly weigh: (tile: T) => number;
  readonly room: TileRoom<T>;
  /** Requests under way at the same time. */
  readonly most?: number;
  /** Asks for nothing that is not in sight. */
  readonly seenOnly?: boolean;
}

/** What the tiles need to know of their rank. */
interface Rank {
  readonly levels: readonly Level[];
  /** To be called when something has come. */
  readonly changed: () => void;
}

export class LeveledTiles<T> extends Together implements TrackSource {
  private readonly levels: readonly Level[];
  private readonly tiles: TileStore<TileRequest, T>;

  constructor(
    { levels, changed }: Rank,
    private readonly options: Options<T>,
  ) {
    super();
    this.levels = levels;
    this.tiles = new TileStore({
      most: 2,
      ...options,
      load: (request, signal) => {
        const tile_ns = levels[request.level]?.tile_ns ?? 0;
        const start = request.tile * tile_ns;
        return options.load(request, { start, end: start + tile_ns }, signal);
      },
      onChange: changed,
    });
  }

  protected get stores() {
    return [this.tiles];
  }

  /** The best that is here for a window, ns of the rank. */
  pieces(level: number, window: TimeWindow): Piece<T>[] {
    return pieces(this.levels, level, window, (at, tile) => this.tiles.get(`${at}/${tile}`));
  }

  /** Asks for what the window needs, and for what can stand in for it. */
  want({ rows, level, window }: Pick<Sight, "rows" | "level" | "window">): void {
    const { seen, ahead } = tilesWanted(this.levels, level, rows.length > 0 ? window : null);
    this.tiles.want(seen, this.options.seenOnly ? [] : ahead);
  }
}
