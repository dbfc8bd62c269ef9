/** /api/distributed: all traces of one span of a run. */
import { keepPreviousData, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { type ApiError, get } from "./client";
import { LOADING_MS } from "./poll";
import { type Result, useStatus } from "./queries";
import type { DeviceProperties, DistributedAnswer, RankAnswer, RankSteps } from "./schema.gen";
import type { Status } from "./types";

export type Distributed = DistributedAnswer;
export type RankWorker = RankAnswer;
export type { DeviceProperties, RankSteps };

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

export function useDistributed(run: string | null, span: string | null): Result<Distributed> {
  const status = useStatus().data;
  const known = run !== null && span !== null;
  return useQuery<Distributed, ApiError>({
    queryKey: ["run", run, span, "distributed", known ? stateOfSpan(status, run, span) : ""],
    queryFn: ({ signal }) => get("distributed", { run, span }, signal),
    enabled: known && status !== undefined && !hasNoRanks(status, run, span),
    placeholderData: keepPreviousData as UseQueryOptions<Distributed, ApiError>["placeholderData"],
    refetchInterval: (query) => (query.state.error?.loading ? LOADING_MS : false),
  });
}
