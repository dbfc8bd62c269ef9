/** `/api/snapshot/link`: a trace and a memory snapshot of one process. */
import { useQueries } from "@tanstack/react-query";
import { get } from "./client";
import { allSteps, type Result, useTraceQuery } from "./queries";
import type { SnapshotLinkAnswer } from "./schema.gen";
import type { RunStatus, TraceKey, TraceStatus } from "./types";

/**
 * Files of the run that may be of the same process: of the same rank, and of the other kind; those of the same moment
 * first. Pure.
 */
export function partnersOf(run: RunStatus | null, trace: TraceStatus | null): TraceStatus[] {
  if (!run || trace?.state !== "ready") return [];
  const others = run.traces.filter(({ kind, state }) => kind !== trace.kind && state === "ready");
  const same = others.filter(({ rank }) => rank === trace.rank);
  if (same.length > 0)
    return [
      ...same.filter(({ span }) => span === trace.span),
      ...same.filter(({ span }) => span !== trace.span),
    ];
  // without ranks there is no doubt where there is one of each
  const alone = run.traces.filter(({ kind }) => kind === trace.kind).length === 1;
  return alone && others.length === 1 ? others : [];
}

/** The first of them. Pure. */
export function partnerOf(run: RunStatus | null, trace: TraceStatus | null): TraceStatus | null {
  return partnersOf(run, trace)[0] ?? null;
}

/** Whether the file on screen and its partner are of one process; asked whichever of the two is on screen. */
export function useSnapshotLink(
  sel: TraceKey | null,
  trace: TraceStatus | null,
  partner: TraceStatus | null,
): Result<SnapshotLinkAnswer> {
  const files = trace?.kind === "snapshot" ? [partner, trace] : [trace, partner];
  const [first, second] = files;
  const key = sel && first && { run: sel.run, worker: first.worker, span: first.span };
  return useTraceQuery("snapshot/link", second ? (key ?? null) : null, {
    exp_run: sel?.run,
    exp_worker: second?.worker,
    exp_span: second?.span,
  });
}

/** A trace, and a snapshot that may be of the same process. */
export interface Pair {
  readonly trace: TraceKey;
  readonly snapshot: TraceKey;
}

/** Of each pair whether it is of one process; in their order. */
export function useSnapshotLinks(pairs: readonly Pair[]): Result<SnapshotLinkAnswer>[] {
  return useQueries({
    queries: pairs.map(({ trace, snapshot }) => {
      const { run, worker, span } = allSteps(trace);
      const query = { exp_run: snapshot.run, exp_worker: snapshot.worker, exp_span: snapshot.span };
      return {
        queryKey: ["trace", run, worker, span, {}, "snapshot/link", query],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          get("snapshot/link", { run, worker, span, ...query }, signal),
      };
    }),
  }) as Result<SnapshotLinkAnswer>[];
}
