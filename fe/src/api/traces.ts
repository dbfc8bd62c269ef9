/** `/api/traces`: any number of traces in one table, as docs/api.md describes it. */
import { get, type Query } from "./client";
import { type Result, useAnswer, useStatus } from "./queries";
import type { Answers } from "./schema.gen";
import type { Status, TraceKey } from "./types";

/** One trace of each run, all of the run shown, or all there are. */
export type TraceScope = "runs" | "run" | "all";
export type ByNameWhat = "operators" | "kernels";

export type TracesTable = Answers["traces"];
export type TracesByName = Answers["traces/names"];
export type Trends = Answers["compare/trends"];

export function useTraces(sel: TraceKey | null, of: TraceScope): Result<TracesTable> {
  return useAboutTraces("traces", sel, { of });
}

export function useTracesByName(
  sel: TraceKey | null,
  of: TraceScope,
  what: ByNameWhat,
  measure: string,
): Result<TracesByName> {
  return useAboutTraces("traces/names", sel, { of, what, measure, limit: "all" });
}

/** The memory snapshots of the run beside each other. */
export function useSnapshotRanks(sel: TraceKey | null): Result<Answers["snapshot/ranks"]> {
  return useAboutTraces("snapshot/ranks", sel, { of: "run" });
}

/** `base`: the baseline; the first trace where it is none of them, or null. */
export function useTrends(
  sel: TraceKey | null,
  of: TraceScope,
  base: { run: string; worker: string; span: string } | null,
): Result<Trends> {
  return useAboutTraces("compare/trends", sel, {
    of,
    base_run: base?.run,
    base_worker: base?.worker,
    base_span: base?.span,
  });
}

function useAboutTraces<R extends "traces" | "traces/names" | "compare/trends" | "snapshot/ranks">(
  route: R,
  sel: TraceKey | null,
  query: Query,
): Result<Answers[R]> {
  const status = useStatus().data;
  const asked = {
    ...query,
    // The run is named where it matters, so that the answers about all runs are those of every run.
    run: query.of === "run" ? sel?.run : undefined,
    worker: query.of === "runs" ? sel?.worker : undefined,
    steps: sel?.steps,
    step_pattern: sel?.step_pattern,
  };
  return useAnswer(
    ["traces", route, asked, stateOfAll(status)],
    (signal) => get(route, asked, signal),
    { enabled: sel !== null && status !== undefined },
  );
}

/** Changes when another trace has been read, or a file has changed. */
function stateOfAll(status: Status | undefined): string {
  return (status?.runs ?? [])
    .flatMap(({ traces }) => traces.map(({ file, size, state }) => `${file} ${size} ${state}`))
    .join("\n");
}
