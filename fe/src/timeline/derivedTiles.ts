/** Lanes that the server computes for a rank: the critical path, why devices idle, what the program did. */
import { type DerivedKind, type DerivedMeta, derivedTile, type StepChoice } from "../api";
import { partNumber } from "../draw/parts";
import { decodeTile, type Tile } from "./decode";
import { LaneRoom } from "./laneTiles";
import { LeveledTiles } from "./leveledTiles";
import type { RankTiles } from "./rankTiles";
import { type Sight, Together, type TrackSource } from "./trackSource";

/** The lanes of one kind. */
export class DerivedTiles extends LeveledTiles<Tile> {
  /** By the code of a part, the number of its colour. */
  readonly colors: Uint8Array;

  constructor(
    rank: RankTiles,
    readonly of: DerivedKind,
    readonly about: DerivedMeta,
    /** How the steps are found that it is about. */
    readonly how: StepChoice,
  ) {
    super(rank, {
      load: async ({ level, tile }, _, signal) =>
        decodeTile(await derivedTile(rank.key, how, of, level, tile, signal)),
      weigh: ({ bytes }) => bytes,
      room: rank.memory.of(LaneRoom),
    });
    this.colors = Uint8Array.from(about.parts, partNumber);
  }
}

/** As far as they are shown. */
export class DerivedSource extends Together implements TrackSource {
  private readonly shown = new Map<DerivedKind, DerivedTiles>();

  constructor(private readonly rank: RankTiles) {
    super();
  }

  protected get stores() {
    return this.shown.values();
  }

  /** Shows lanes of a kind, or takes them away. */
  show(of: DerivedKind, about: DerivedMeta | null, how: StepChoice): void {
    const shown = this.shown.get(of);
    const next = about?.refused === null ? about : undefined;
    if (shown?.about === next && (shown === undefined || shown.how === how)) return;
    shown?.close();
    this.shown.delete(of);
    if (next) this.shown.set(of, new DerivedTiles(this.rank, of, next, how));
    this.rank.changed();
  }

  tiles(of: DerivedKind): DerivedTiles | undefined {
    return this.shown.get(of);
  }

  /** The lane that a track shows, and its number among those of its kind; null while it is not shown. */
  lane(part: string | undefined): { readonly tiles: DerivedTiles; readonly lane: number } | null {
    for (const tiles of this.shown.values()) {
      const lane = tiles.about.lanes.findIndex(({ device }) => partOf(tiles.of, device) === part);
      if (lane >= 0) return { tiles, lane };
    }
    return null;
  }

  want({ rows, ...sight }: Sight): void {
    for (const tiles of this.shown.values())
      tiles.want({
        ...sight,
        rows: rows.filter(({ track }) => this.lane(track.part)?.tiles === tiles),
      });
  }

  override close(): void {
    super.close();
    this.shown.clear();
  }
}

/** What a track of a device calls its lane, or that of a lane of no device. */
export function partOf(of: DerivedKind, device: number | null): string {
  return device === null ? of : `${of}:${device}`;
}
