/** `/api/compare`: two traces side by side, as docs/api.md describes it. */
import { keepPreviousData, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { type ApiError, get } from "./client";
import { LOADING_MS } from "./poll";
import { type Result, traceKey } from "./queries";
import type { Cell, Column, Meta, Nanoseconds, TraceKey } from "./types";

export type PartKind =
  | "module"
  | "backward"
  | "dataloader"
  | "optimizer"
  | "step"
  | "label"
  | "communication"
  | "operator"
  | "group";

/** An entry of the alignment, as it is called on both sides; null where that side has nothing. */
export interface PartName {
  name: string | null;
  exp_name: string | null;
  kind: PartKind;
}

export interface CompareMeta extends Omit<Meta, "steps"> {
  /** The same of the experiment. */
  exp: Meta;
  path: string;
  name: string | null;
  exp_name: string | null;
  /** Null for the whole. */
  kind: PartKind | null;
  /** What leads to the entry, itself at the end; empty for the whole. */
  trail: ({ path: string } & PartName)[];
  steps: number;
  exp_steps: number;
}

export type CompareMeasure = "duration_ns" | "device_ns" | "total_ns";

export interface ComparedTable {
  columns: Column[];
  rows: Record<string, Cell[]>;
}

/** Every number comes three times: `x` of the baseline, `exp_x` of the experiment, `delta_x` their difference. */
export interface Compared {
  meta: CompareMeta;
  totals: Record<CompareMeasure | `exp_${CompareMeasure}` | `delta_${CompareMeasure}`, Nanoseconds>;
  /** In the order of the program. */
  parts: ComparedTable;
  /** The largest change first. */
  operators: ComparedTable;
  kernels: ComparedTable;
}

/**
 * `versions`: what the status says of both files. With another file, or one that has only now been read, the old
 * answer is not used any more.
 */
export function useCompare(
  baseline: TraceKey | null,
  experiment: TraceKey | null,
  path: string,
  versions: string,
): Result<Compared> {
  const ready = baseline !== null && experiment !== null;
  // How steps are found is the same on both sides.
  const steps = {
    steps: experiment?.steps,
    step_pattern: experiment?.step_pattern,
    from_step: baseline?.from_step,
    to_step: baseline?.to_step,
    exp_from_step: experiment?.from_step,
    exp_to_step: experiment?.to_step,
  };
  return useQuery<Compared, ApiError>({
    queryKey: [
      ...(ready ? traceKey(experiment) : ["trace", null, null, null]),
      "compare",
      baseline && traceKey(baseline),
      path,
      steps,
      versions,
    ],
    queryFn: ({ signal }) =>
      get<Compared>(
        "compare",
        {
          run: baseline?.run,
          worker: baseline?.worker,
          span: baseline?.span,
          exp_run: experiment?.run,
          exp_worker: experiment?.worker,
          exp_span: experiment?.span,
          ...steps,
          path,
        },
        signal,
      ),
    enabled: ready,
    placeholderData: keepPreviousData as UseQueryOptions<Compared, ApiError>["placeholderData"],
    refetchInterval: (q) => (q.state.error?.loading ? LOADING_MS : false),
  });
}
