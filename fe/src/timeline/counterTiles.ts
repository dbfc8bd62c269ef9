/** The values of the counters of a rank. */
import { type TimelineCounter, timelineCounters } from "../api";
import { type CounterTile, decodeCounters } from "./decode";
import { LeveledTiles } from "./leveledTiles";
import type { RankTiles } from "./rankTiles";
import { TileRoom } from "./room";

/** Bytes. */
const KEPT = 8 * 1024 * 1024;

class CounterRoom extends TileRoom<CounterTile> {
  constructor() {
    super(KEPT);
  }
}

export class CounterTiles extends LeveledTiles<CounterTile> {
  /** By their ids, the counters and their places among the values of tiles. */
  private readonly counters: ReadonlyMap<string, { at: number; counter: TimelineCounter }>;

  constructor(rank: RankTiles) {
    const { counters } = rank.meta;
    const ids = counters.map(({ id }) => id);
    super(rank, {
      load: async ({ level, tile }, _, signal) =>
        decodeCounters(await timelineCounters(rank.key, level, tile, ids, signal)),
      weigh: ({ bytes }) => bytes,
      room: rank.memory.of(CounterRoom),
      most: 1,
      seenOnly: true,
    });
    this.counters = new Map(counters.map((counter, at) => [counter.id, { at, counter }]));
  }

  /** A picture is complete without them. */
  override get missing(): number {
    return 0;
  }

  override get failure(): unknown {
    return null;
  }

  counter(id: string | undefined): { at: number; counter: TimelineCounter } | undefined {
    return this.counters.get(id ?? "");
  }
}
