/** The trace on screen, resolved once and shared. */
import { createContext, type ReactNode, useContext, useMemo, useRef } from "react";
import { type RunStatus, type TraceKey, type TraceStatus, useOverview, useStatus } from "../api";
import { type Comparison, NO_COMPARISON, resolveComparison, type Suggestion } from "./comparison";
import { useAddress } from "./hooks";
import { page } from "./page";
import { parseRange, type StepList, type StepRange } from "./range";
import { type Dropped, resolve } from "./resolve";
import { stepChoice } from "./steps";

export interface CurrentTrace {
  /** Null while nothing can be shown: no runs, or what the address asks for is not known yet. */
  sel: TraceKey | null;
  run: RunStatus | null;
  trace: TraceStatus | null;
  /** What it is compared with. */
  comparison: Comparison;
  /** All steps of the trace; null until they are known. */
  steps: StepList | null;
  /** The steps to which the views are limited; null: all. */
  range: StepRange | null;
  /** What the address asked for in vain. */
  dropped: Dropped[];
}

const NOTHING: CurrentTrace = {
  sel: null,
  run: null,
  trace: null,
  comparison: NO_COMPARISON,
  steps: null,
  range: null,
  dropped: [],
};

const Context = createContext<CurrentTrace>(NOTHING);

export function TraceProvider({ children }: { children: ReactNode }) {
  const whole = useWholeTrace();
  const [st] = useAddress(page.steps);
  // A trace that is still being read has no steps to ask for, a memory snapshot none at all.
  const { trace: file } = whole;
  const has = file?.state === "ready" && file.kind === "trace";
  const overview = useOverview(has ? whole.sel : null);
  const steps = overview.isPlaceholderData ? null : (overview.data?.steps ?? null);
  const failed = overview.isError && !overview.error.loading;
  const limited = useRef<TraceKey | null>(null);

  const selection = useMemo<CurrentTrace>(() => {
    const { sel, trace } = whole;
    if (st === null || !sel || trace?.state !== "ready" || trace.kind !== "trace")
      return { ...whole, steps };
    // Names that the server does not know would be an error in every panel: wait for the list.
    if (!steps && !failed) return { ...whole, steps, sel: null };
    const range = steps ? parseRange(st, steps.names) : null;
    if (!steps || !range) {
      return { ...whole, steps, dropped: [...whole.dropped, { kind: "steps", value: st }] };
    }
    const from_step = steps.names[range.first] ?? "";
    const to_step = steps.names[range.last] ?? "";
    const next = { ...sel, from_step, to_step };
    if (!sameTrace(next, limited.current)) limited.current = next;
    return { ...whole, steps, range, sel: limited.current };
  }, [whole, steps, failed, st]);

  return <Context value={selection}>{children}</Context>;
}

/** What the address asks for, with all steps. */
function useWholeTrace(): CurrentTrace {
  const status = useStatus().data;
  const [run] = useAddress(page.run);
  const [worker] = useAddress(page.worker);
  const [span] = useAddress(page.span);
  const [rule] = useAddress(page.stepRule);
  const [pattern] = useAddress(page.stepPattern);
  const [baseline] = useAddress(page.baseline);
  const previous = useRef<TraceKey | null>(null);
  const suggested = useRef<{ for: TraceKey; baseline: Suggestion | null } | null>(null);

  return useMemo<CurrentTrace>(() => {
    if (!status) return NOTHING;
    const { key, trace, ...found } = resolve(status, { run, worker, span }, previous.current);
    const how = stepChoice(rule, pattern);
    const next = key && { ...key, ...how.choice };
    // Keep the object while it means the same, so that queries and effects see no change.
    if (!sameTrace(next, previous.current)) previous.current = next;
    const sel = previous.current;
    const before = suggested.current?.for === sel ? (suggested.current?.baseline ?? null) : null;
    const compared = resolveComparison(status, sel, baseline, before);
    suggested.current = sel && { for: sel, baseline: compared.comparison.suggested };
    return {
      ...NOTHING,
      sel,
      run: found.run,
      trace,
      comparison: compared.comparison,
      dropped: [...found.dropped, ...how.dropped, ...compared.dropped],
    };
  }, [status, run, worker, span, rule, pattern, baseline]);
}

function sameTrace(a: TraceKey | null, b: TraceKey | null): boolean {
  return (
    a?.run === b?.run &&
    a?.worker === b?.worker &&
    a?.span === b?.span &&
    a?.steps === b?.steps &&
    a?.step_pattern === b?.step_pattern &&
    a?.from_step === b?.from_step &&
    a?.to_step === b?.to_step
  );
}

export function useTrace(): CurrentTrace {
  return useContext(Context);
}
