/** The ranks that are shown, as the timeline wants them. */
import { useEffect, useMemo, useRef } from "react";
import {
  type ApiError,
  type Result,
  type RunOverview,
  type TimelineMeta,
  type TraceKey,
  useRunOverview,
  useTimeline,
  useTimelines,
} from "../../api";
import { timelineTexts } from "../../i18n";
import { useTrace } from "../../state";
import { RankTiles } from "../../timeline";
import { useLatest } from "../../ui";

const BINS = 400;

interface Sources {
  readonly query: Result<TimelineMeta>;
  /** The rank of the page first, then those stacked below it that are here. */
  readonly sources: readonly RankTiles[];
  /** Why a rank that was asked for is not shown. */
  readonly failed: readonly { readonly worker: string; readonly error: ApiError }[];
  readonly overview: RunOverview | null;
}

export function useRankTiles(workers: readonly string[], onChange: () => void): Sources {
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
  const kept = useRef(new Map<string, RankTiles>());
  const change = useLatest(onChange);

  const metas = [query.data, ...answers.map(({ data }) => data)];
  const versions = metas.map((meta) => meta?.version ?? "").join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer is its version
  const sources = useMemo(() => {
    if (!sel || !metas[0]) return [];
    const keys = [sel, ...others];
    const base = offsetOf(overview, sel.worker);
    const next = new Map<string, RankTiles>();
    for (const [at, meta] of metas.entries()) {
      const key = keys[at];
      if (!meta || !key) continue;
      const offset = offsetOf(overview, key.worker) - base;
      const id = `${key.run}\n${key.worker}\n${key.span}\n${meta.version}\n${offset}`;
      const { run: name, worker, span } = key;
      next.set(
        id,
        kept.current.get(id) ??
          new RankTiles(
            { run: name, worker, span, v: meta.version },
            meta,
            offset,
            worker,
            timelineTexts,
            () => change.current(),
          ),
      );
    }
    for (const [id, source] of kept.current) if (!next.has(id)) source.close();
    kept.current = next;
    return [...next.values()];
  }, [sel, others, versions, overview]);
  useEffect(
    () => () => {
      for (const source of kept.current.values()) source.close();
      kept.current.clear();
    },
    [],
  );
  const failed = others.flatMap(({ worker }, at) => {
    const error = answers[at]?.error;
    return error ? [{ worker, error }] : [];
  });
  return { query, sources, failed, overview };
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
