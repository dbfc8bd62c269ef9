/** `/api/compare`: two traces side by side, as docs/api.md describes it. */
import { get } from "./client";
import { type Result, traceKey, useAnswer } from "./queries";
import type {
  Answers,
  ChangeAnswer,
  ChangedWork,
  CompareAnswer,
  CompareMeta,
  ComparePart,
  CompareRooflineAnswer,
  CompareTotals,
} from "./schema.gen";
import type { TraceKey } from "./types";

/** Every number comes three times: `x` of the baseline, `exp_x` of the experiment, `delta_x` their difference. */
export type Compared = CompareAnswer;
export type Change = ChangeAnswer;
export type ComparedRoofline = CompareRooflineAnswer;
export type ComparedTable = CompareAnswer["parts"];
export type CompareMeasure = "duration_ns" | "device_ns" | "total_ns";
export type { ChangedWork, CompareMeta, ComparePart, CompareTotals };

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
  return useBoth("compare", baseline, experiment, versions, path);
}

/** FLOP, utilizations and lost time of both; `versions`: see `useCompare`. */
export function useCompareRoofline(
  baseline: TraceKey,
  experiment: TraceKey,
  versions: string,
): Result<ComparedRoofline> {
  return useBoth("compare/roofline", baseline, experiment, versions);
}

/** The mean step of both taken apart; `versions`: see `useCompare`. */
export function useChange(
  baseline: TraceKey | null,
  experiment: TraceKey | null,
  versions: string,
): Result<Change> {
  return useBoth("compare/change", baseline, experiment, versions);
}

function useBoth<R extends "compare" | "compare/change" | "compare/roofline">(
  route: R,
  baseline: TraceKey | null,
  experiment: TraceKey | null,
  versions: string,
  path?: string,
): Result<Answers[R]> {
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
  const sides = {
    run: baseline?.run,
    worker: baseline?.worker,
    span: baseline?.span,
    exp_run: experiment?.run,
    exp_worker: experiment?.worker,
    exp_span: experiment?.span,
  };
  const of = ready ? traceKey(experiment) : ["trace", null, null, null];
  return useAnswer(
    [...of, route, baseline && traceKey(baseline), path, steps, versions],
    (signal) => get(route, { ...sides, ...steps, path }, signal),
    { enabled: ready },
  );
}
