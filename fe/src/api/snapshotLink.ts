/** `/api/snapshot/link`: a trace and a memory snapshot of one process. */
import { useQueries } from "@tanstack/react-query";
import { get } from "./client";
import { allSteps, type Result } from "./queries";
import type { SnapshotLinkAnswer } from "./schema.gen";
import type { RunStatus, TraceKey, TraceStatus } from "./types";

/** Of a file so many others are asked whether they are of its process. */
const MOST = 8;

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
    ].slice(0, MOST);
  // without ranks there is no doubt where there is one of each
  const alone = run.traces.filter(({ kind }) => kind === trace.kind).length === 1;
  return alone && others.length === 1 ? others : [];
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

/**
 * Of several that may be of one process the one with most records in the time of both; else the first, once all are
 * known. Pure.
 */
export function bestOf<T extends { readonly answer: Pick<SnapshotLinkAnswer, "link"> }>(
  found: readonly T[],
  all: boolean,
): T | null {
  const linked = found.filter(({ answer }) => answer.link.reason === "linked");
  const most = Math.max(...linked.map(({ answer }) => answer.link.records));
  return (
    linked.find(({ answer }) => answer.link.records === most) ?? (all ? found[0] : null) ?? null
  );
}

/** The file of the other kind that is of the same process as the one on screen, else one that might have been. */
export function useSnapshotPartner(
  run: RunStatus | null,
  trace: TraceStatus | null,
): { readonly partner: TraceStatus; readonly answer: SnapshotLinkAnswer } | null {
  const keyOf = ({ worker, span }: TraceStatus) => ({ run: run?.name ?? "", worker, span });
  const partners = partnersOf(run, trace);
  const links = useSnapshotLinks(
    partners.flatMap((partner) => {
      if (!trace) return [];
      const [of, beside] = trace.kind === "snapshot" ? [partner, trace] : [trace, partner];
      return [{ trace: keyOf(of), snapshot: keyOf(beside) }];
    }),
  );
  const found = partners.flatMap((partner, at) => {
    const answer = links[at]?.data;
    return answer ? [{ partner, answer }] : [];
  });
  return bestOf(found, !links.some(({ isPending }) => isPending));
}
