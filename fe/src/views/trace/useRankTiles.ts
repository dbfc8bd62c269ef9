/** The ranks that are shown, as the timeline wants them. */
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import {
  type ApiError,
  type RankClock,
  type Result,
  type RunOverview,
  type TimelineMeta,
  type TraceKey,
  useRankClock,
  useRunOverview,
  useTimeline,
  useTimelines,
} from "../../api";
import { timelineTexts } from "../../i18n";
import { useTrace } from "../../state";
import { RankTiles, TimelineMemory, tracksOf } from "../../timeline";

const BINS = 400;

interface Sources {
  readonly query: Result<TimelineMeta>;
  /** The rank of the page first, then those stacked below it that are here. */
  readonly sources: readonly RankTiles[];
  /** Why a rank that was asked for is not shown. */
  readonly failed: readonly { readonly worker: string; readonly error: ApiError }[];
  readonly overview: RunOverview | null;
}

export function useRankTiles(workers: readonly string[]): Sources {
  const { sel, run } = useTrace();
  const query = useTimeline(sel);
  const overview = useRunOverview(sel, BINS).data ?? null;
  const others = useMemo(
    () =>
      sel
        ? workers
            .filter((worker) => worker !== sel.worker)
            .map((worker): TraceKey => ({ ...sel, worker, span: spanOf(run, worker, sel.span) }))
        : [],
    [sel, run, workers],
  );
  const answers = useTimelines(others);
  const fitted = useRankClock(others.length > 0 ? sel : null);
  const clock = fitted.isPlaceholderData ? null : (fitted.data ?? null);
  const kept = useRef(new Map<string, RankTiles>());
  const [memory] = useState(() => new TimelineMemory());
  const [made, setMade] = useState<readonly RankTiles[]>([]);

  const metas = [query.data, ...answers.map(({ data }) => data)];
  const versions = metas.map((meta) => meta?.version ?? "").join(" ");
  const keys = useMemo(() => (sel ? [sel, ...others] : []), [sel, others]);
  // In an effect, because a rank's tiles are on their way until it is closed: React may run anything else twice, or
  // throw its result away. Before the page is painted, so that it never shows the ranks of another choice.
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer is its version
  useLayoutEffect(() => {
    const next = new Map<string, RankTiles>();
    for (const [at, { run: name, worker, span }] of keys.entries()) {
      const meta = metas[at];
      // Without the rank of the page there is nothing to stack others below.
      if (!meta || !metas[0]) continue;
      const offset = apart(overview, clock, sel?.worker ?? "", worker);
      const id = [name, worker, span, meta.version, offset].join("\n");
      const key = { run: name, worker, span, v: meta.version };
      next.set(
        id,
        kept.current.get(id) ??
          new RankTiles(key, meta, offset, tracksOf(worker, worker, meta, timelineTexts), memory),
      );
    }
    for (const [id, source] of kept.current) if (!next.has(id)) source.close();
    kept.current = next;
    setMade([...next.values()]);
  }, [keys, versions, overview, clock, memory]);
  useLayoutEffect(
    () => () => {
      for (const source of kept.current.values()) source.close();
      kept.current.clear();
    },
    [],
  );
  // Until the effect has run, those of the choice before are still there.
  const sources = useMemo(
    () =>
      made.filter(({ key }) =>
        keys.some(
          ({ run: name, worker, span }) =>
            name === key.run && worker === key.worker && span === key.span,
        ),
      ),
    [made, keys],
  );
  const failed = others.flatMap(({ worker }, at) => {
    const error = answers[at]?.error;
    return error ? [{ worker, error }] : [];
  });
  return { query, sources, failed, overview };
}

/** What to add to times of a rank to have them beside the page's: by the clock of all ranks where that is known. */
export function apart(
  overview: RunOverview | null,
  clock: RankClock | null,
  page: string,
  worker: string,
): number {
  const [of, base] = [worker, page].map((each) => clock?.shift_ns[clock.workers.indexOf(each)]);
  if (typeof of === "number" && typeof base === "number") return of - base;
  return offsetOf(overview, worker) - offsetOf(overview, page);
}

function offsetOf(overview: RunOverview | null, worker: string): number {
  return overview?.workers.find((each) => each.worker === worker)?.offset_ns ?? 0;
}

/** The same span of another rank, else its first. */
function spanOf(
  run: { traces: readonly { worker: string; span: string }[] } | null,
  worker: string,
  span: string,
): string {
  const own = run?.traces.filter((trace) => trace.worker === worker) ?? [];
  return (own.find((trace) => trace.span === span) ?? own[0])?.span ?? span;
}
