/** `/api/snapshot/link`: a trace and a memory snapshot of one process. */
import { type Result, useTraceQuery } from "./queries";
import type { SnapshotLinkAnswer } from "./schema.gen";
import type { RunStatus, TraceKey, TraceStatus } from "./types";

/** A file of the run that may be of the same process: of the same rank, and of the other kind. Pure. */
export function partnerOf(run: RunStatus | null, trace: TraceStatus | null): TraceStatus | null {
  if (!run || trace?.state !== "ready") return null;
  const others = run.traces.filter(({ kind, state }) => kind !== trace.kind && state === "ready");
  const same = others.filter(({ rank }) => rank === trace.rank);
  if (same.length > 0) return same.find(({ span }) => span === trace.span) ?? same[0] ?? null;
  // without ranks there is no doubt where there is one of each
  const alone = run.traces.filter(({ kind }) => kind === trace.kind).length === 1;
  return alone && others.length === 1 ? (others[0] ?? null) : null;
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
