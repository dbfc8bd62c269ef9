/** The ranks that are shown, as the timeline wants them. */
import type { RankClock, RunOverview, TimelineMeta, TraceKey } from "../../api";
import { timelineTexts } from "../../i18n";
import type { CurrentTrace } from "../../state";
import { RankTiles, TimelineMemory, tracksOf } from "../../timeline";

/** A rank that is to be shown, and what the server says of it. */
export interface RankAnswer {
  readonly key: TraceKey;
  /** Null until it is here. */
  readonly meta: TimelineMeta | null;
}

export class Ranks {
  private readonly memory = new TimelineMemory();
  private kept = new Map<string, RankTiles>();
  private shown: readonly RankTiles[] = [];

  /** The rank of the page, which is the first of them, then those stacked below it that are here; all others are closed. */
  show(
    wanted: readonly RankAnswer[],
    overview: RunOverview | null,
    clock: RankClock | null,
  ): readonly RankTiles[] {
    const next = new Map<string, RankTiles>();
    const [page] = wanted;
    for (const { key, meta } of wanted) {
      // Without the rank of the page there is nothing to stack others below.
      if (!meta || !page?.meta) continue;
      const { run, worker, span } = key;
      const { offset } = apart(overview, clock, page, { key, meta });
      const id = [run, worker, span, meta.version, offset].join("\n");
      next.set(id, this.kept.get(id) ?? this.made({ run, worker, span }, meta, offset));
    }
    for (const [id, rank] of this.kept) if (!next.has(id)) rank.close();
    this.kept = next;
    const ranks = [...next.values()];
    const isSame =
      ranks.length === this.shown.length && ranks.every((rank, at) => rank === this.shown[at]);
    if (!isSame) this.shown = ranks;
    return this.shown;
  }

  close(): void {
    this.show([], null, null);
  }

  private made(key: TraceKey, meta: TimelineMeta, offset: number): RankTiles {
    const tracks = tracksOf(key.worker, key.worker, meta, timelineTexts);
    return new RankTiles({ ...key, v: meta.version }, meta, offset, tracks, this.memory);
  }
}

/** Further ranks, of the same span as the rank of the page, else of their first. */
export function othersOf({ sel, run }: CurrentTrace, workers: readonly string[]): TraceKey[] {
  if (!sel) return [];
  return workers
    .filter((worker) => worker !== sel.worker)
    .map((worker) => {
      const own = run?.traces.filter((trace) => trace.worker === worker) ?? [];
      const { span } = own.find((trace) => trace.span === sel.span) ?? own[0] ?? sel;
      return { ...sel, worker, span };
    });
}

interface Alignment {
  /** What to add to times of a rank to have them beside the page's, ns. */
  readonly offset: number;
  /** A clock that both have, the beginning of a step that both have, or their own beginnings. */
  readonly by: "clock" | "step" | "start";
  /** That step, where it is one. */
  readonly step: string;
}

/** By the clock of all ranks where that is known, then by those of the files, then by the first step that both have. */
export function apart(
  overview: RunOverview | null,
  clock: RankClock | null,
  page: RankAnswer,
  rank: RankAnswer,
): Alignment {
  const workers = [rank.key.worker, page.key.worker];
  const [of, base] = workers.map((each) => clock?.shift_ns[clock.workers.indexOf(each)]);
  if (typeof of === "number" && typeof base === "number")
    return { offset: of - base, by: "clock", step: "" };
  const [own = 0, first = 0] = workers.map((worker) => offsetOf(overview, worker));
  if (overview?.aligned) return { offset: own - first, by: "clock", step: "" };
  const steps = page.meta?.steps.names ?? [];
  const step = steps.find((name) => rank.meta?.steps.names.includes(name));
  if (step === undefined) return { offset: own - first, by: "start", step: "" };
  return { offset: beginOf(page, step) - beginOf(rank, step), by: "step", step };
}

function beginOf({ meta }: RankAnswer, step: string): number {
  return meta?.steps.start_ns[meta.steps.names.indexOf(step)] ?? 0;
}

function offsetOf(overview: RunOverview | null, worker: string): number {
  return overview?.workers.find((each) => each.worker === worker)?.offset_ns ?? 0;
}
