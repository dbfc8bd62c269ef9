/** /api/distributed: all traces of one span of a run. */
import { keepPreviousData, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { type ApiError, get } from "./client";
import { LOADING_MS } from "./poll";
import { type Result, useStatus } from "./queries";
import type { Bytes, Cell, Column, Nanoseconds, Note, Status } from "./types";

/** Parallel to `names`. The first four add up to `duration_ns`. */
export interface RankSteps {
  names: string[];
  duration_ns: Nanoseconds[];
  computation_ns: Nanoseconds[];
  overlap_ns: Nanoseconds[];
  exposed_communication_ns: Nanoseconds[];
  other_ns: Nanoseconds[];
  /** Time in which operations that the step called ran, split. */
  transfer_ns: Nanoseconds[];
  wait_ns: Nanoseconds[];
  /** Of operations that no step called. */
  outside: { transfer_ns: Nanoseconds; wait_ns: Nanoseconds };
}

export interface RankDevice {
  id: number;
  name: string | null;
  memory_bytes: Bytes | null;
  compute_capability: string | null;
}

export interface RankWorker {
  worker: string;
  rank: number | null;
  world_size: number | null;
  node: string;
  process: string;
  backend: string | null;
  /** Those that did some work. */
  devices: RankDevice[];
  steps: RankSteps;
}

export interface ProcessGroup {
  name: string;
  description: string;
  /** Empty when not known. */
  ranks: number[];
  size: number | null;
  /** How many of its ranks are among the traces. */
  present: number;
}

export interface Distributed {
  meta: { run: string; span: string; notes: Note[] };
  workers: RankWorker[];
  groups: ProcessGroup[];
  /** What the columns of `steps` mean. */
  definitions: Column[];
  operations: { columns: Column[]; rows: Record<string, Cell[]> };
}

/** Changes when another trace of the span has been read, or a file has changed: the answer is about all of them. */
export function stateOfSpan(status: Status | undefined, run: string, span: string): string {
  const traces = status?.runs.find(({ name }) => name === run)?.traces ?? [];
  return traces
    .filter((trace) => trace.span === span)
    .map(({ file, size, state }) => `${file} ${size} ${state}`)
    .join("\n");
}

export function useDistributed(run: string | null, span: string | null): Result<Distributed> {
  const status = useStatus().data;
  const known = run !== null && span !== null;
  return useQuery<Distributed, ApiError>({
    queryKey: ["run", run, span, "distributed", known ? stateOfSpan(status, run, span) : ""],
    queryFn: ({ signal }) => get<Distributed>("distributed", { run, span }, signal),
    enabled: known && status !== undefined,
    placeholderData: keepPreviousData as UseQueryOptions<Distributed, ApiError>["placeholderData"],
    refetchInterval: (query) => (query.state.error?.loading ? LOADING_MS : false),
  });
}
