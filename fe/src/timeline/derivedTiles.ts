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
import { LeveledTiles } from "./leveledTiles";
import type { Level } from "./levels";
import type { TileRoom } from "./room";

export class DerivedTiles extends LeveledTiles<Tile> {
  /** By the code of a part, the number of its colour. */
  readonly colors: Uint8Array;

  constructor(
    readonly of: DerivedKind,
    readonly about: DerivedMeta,
    /** How the steps are found that it is about. */
    readonly how: StepChoice,
    key: TimelineKey,
    levels: readonly Level[],
    room: TileRoom<Tile>,
    onChange: () => void,
  ) {
    super(levels, {
      load: async ({ level, tile }, signal) =>
        decodeTile(await derivedTile(key, how, of, level, tile, signal)),
      weigh: ({ bytes }) => bytes,
      room,
      onChange,
    });
    this.colors = Uint8Array.from(about.parts, partNumber);
  }
}
