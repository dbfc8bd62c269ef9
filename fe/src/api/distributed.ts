/** /api/distributed: all traces of one span of a run. */
import { get, type Query, type Route } from "./client";
import { type Result, useAnswer, useStatus } from "./queries";
import type {
  Answers,
  DeviceProperties,
  DistributedAnswer,
  RankAnswer,
  RankStepTimes,
  RunFindingsAnswer,
} from "./schema.gen";
import type { Status, TraceKey } from "./types";

export type Distributed = DistributedAnswer;
export type RankWorker = RankAnswer;
export type { DeviceProperties, RankStepTimes };

/** Changes when another trace of the span has been read, or a file has changed: the answer is about all of them. */
export function stateOfSpan(status: Status | undefined, run: string, span: string): string {
  const traces = status?.runs.find(({ name }) => name === run)?.traces ?? [];
  return traces
    .filter((trace) => trace.span === span)
    .map(({ file, size, state }) => `${file} ${size} ${state}`)
    .join("\n");
}

/** Whether all that can be read of the span has been, and none of it communicated: the server would answer 404. */
export function hasNoRanks(status: Status | undefined, run: string, span: string): boolean {
  const traces = (status?.runs.find(({ name }) => name === run)?.traces ?? []).filter(
    (trace) => trace.span === span && trace.state !== "failed",
  );
  return (
    traces.length > 0 &&
    traces.every(({ state, views }) => state === "ready" && !views.includes("distributed"))
  );
}

/** Which span of which run; null while it is not known. */
type SpanKey = Pick<TraceKey, "run" | "span"> | null;

/** An answer about all ranks of a span. While they are read, it is asked for again whenever another one is there. */
export function useRanksQuery<R extends Route>(
  route: R,
  sel: SpanKey,
  query: Query = {},
  { keep } = { keep: true },
): Result<Answers[R]> {
  const status = useStatus().data;
  const { run = null, span = null } = sel ?? {};
  const state = sel ? stateOfSpan(status, sel.run, sel.span) : "";
  return useAnswer(
    ["run", run, span, route, query, state],
    (signal) => get(route, { run, span, ...query }, signal),
    { enabled: sel !== null && status !== undefined, keep },
  );
}

export function useDistributed(sel: SpanKey): Result<Distributed> {
  const status = useStatus().data;
  const without = sel !== null && hasNoRanks(status, sel.run, sel.span);
  return useRanksQuery("distributed", without ? null : sel);
}

export type RunFindings = RunFindingsAnswer;

/** What bounds a run of several ranks, and what its rules find; nothing while that of another run is here. */
export function useRunFindings(sel: SpanKey): Result<RunFindings> {
  return useRanksQuery("run_findings", sel, {}, { keep: false });
}
