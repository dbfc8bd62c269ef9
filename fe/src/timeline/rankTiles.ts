/** One rank in the timeline: what is known of it, and the data of its tracks that is here or on its way. */
import { type TimelineKey, type TimelineMeta, timelineNames } from "../api";
import { hash, type TimeWindow } from "../draw";
import { categoryHues } from "./colors";
import type { Level } from "./levels";
import { Names } from "./names";
import { OneOfEach } from "./oneOfEach";
import { TimelineMemory } from "./room";
import type { Track } from "./track";
import { type Sight, Together, type TrackSource } from "./trackSource";

/** What holds the data of a kind of track. */
export type SourceClass<T extends TrackSource = TrackSource> = new (rank: RankTiles) => T;

export class RankTiles extends Together {
  readonly names: Names;
  readonly hues: Uint8Array;
  private readonly sources = new OneOfEach<RankTiles, TrackSource>(this);
  private readonly listeners = new Set<() => void>();
  private readonly trackOfLane = new Map<number, string>();
  private readonly nameHashes = new Map<number, number>();
  private readonly parents = new Map<string, string | null>();

  /** `offset`: ns to add to its times to have those of the page. */
  constructor(
    readonly key: TimelineKey,
    readonly meta: TimelineMeta,
    readonly offset: number,
    /** What `tracksOf` makes of `meta`. */
    readonly tracks: readonly Track[],
    /** To be shared by the ranks of a page. */
    readonly memory = new TimelineMemory(),
  ) {
    super();
    this.hues = categoryHues(meta.categories);
    for (const { key: track, parent, lanes } of tracks) {
      this.parents.set(track, parent);
      for (const lane of lanes) this.trackOfLane.set(lane, track);
    }
    this.names = new Names({
      total: meta.names,
      load: (which) => timelineNames(key, which),
      onChange: this.changed,
    });
  }

  /** The data of a kind of track, made when it is first asked for. */
  source<T extends TrackSource>(kind: SourceClass<T>): T {
    return this.sources.of(kind);
  }

  protected get stores() {
    return this.sources.values();
  }

  /** Calls `listener` whenever there is something else to draw, until the function it returns is called. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Says that there is something else to draw. */
  readonly changed = (): void => {
    for (const listener of this.listeners) listener();
  };

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

  /** A window of the page in times of the rank. */
  own({ start, end }: TimeWindow): TimeWindow {
    return { start: start - this.offset, end: end - this.offset };
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

  /** Asks for what is in sight, and gives up all else. `rows`: by what holds their data. */
  want(rows: ReadonlyMap<SourceClass, Sight["rows"]>, sight: Omit<Sight, "rows">): void {
    for (const kind of rows.keys()) this.source(kind);
    for (const [kind, source] of this.sources.entries())
      source.want({ ...sight, rows: rows.get(kind) ?? [] });
  }
}
