/** The trace on screen, resolved once and shared. */
import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { type RunStatus, type TraceKey, type TraceStatus, useOverview, useStatus } from "../api";
import {
  type Comparison,
  NO_COMPARISON,
  resolveComparison,
  type Suggestion,
  sameTraceName,
} from "./comparison";
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

/** What was chosen last, which stays while more runs appear. */
interface Chosen {
  readonly sel: TraceKey | null;
  readonly suggested: Suggestion | null;
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
  const range = useMemo(
    () => (st === null || !steps ? null : parseRange(st, steps.names)),
    [st, steps],
  );
  const from_step = range && steps?.names[range.first];
  const to_step = range && steps?.names[range.last];
  // The same object while it means the same, so that queries and effects see no change.
  const limited = useMemo(
    () => whole.sel && { ...whole.sel, from_step: from_step ?? "", to_step: to_step ?? "" },
    [whole.sel, from_step, to_step],
  );

  const selection = useMemo<CurrentTrace>(() => {
    if (st === null || !whole.sel || !has) return { ...whole, steps };
    // Names that the server does not know would be an error in every panel: wait for the list.
    if (!steps && !failed) return { ...whole, steps, sel: null };
    if (range) return { ...whole, steps, range, sel: limited };
    return { ...whole, steps, dropped: [...whole.dropped, { kind: "steps", value: st }] };
  }, [whole, has, steps, failed, st, range, limited]);

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
  const [last, setLast] = useState<Chosen>({ sel: null, suggested: null });

  const current = useMemo<CurrentTrace>(() => {
    if (!status) return NOTHING;
    const { key, trace, ...found } = resolve(status, { run, worker, span }, last.sel);
    const how = stepChoice(rule, pattern);
    const next = key && { ...key, ...how.choice };
    // The same object while it means the same, as above.
    const sel = sameTrace(next, last.sel) ? last.sel : next;
    const before = sel === last.sel ? last.suggested : null;
    const compared = resolveComparison(status, sel, baseline, before);
    return {
      ...NOTHING,
      sel,
      run: found.run,
      trace,
      comparison: compared.comparison,
      dropped: [...found.dropped, ...how.dropped, ...compared.dropped],
    };
  }, [status, run, worker, span, rule, pattern, baseline, last]);
  const { sel, comparison } = current;
  if (status && (sel !== last.sel || !sameSuggestion(comparison.suggested, last.suggested)))
    setLast({ sel, suggested: comparison.suggested });
  return current;
}

function sameSuggestion(a: Suggestion | null, b: Suggestion | null): boolean {
  return a?.why === b?.why && sameTraceName(a?.name ?? null, b?.name ?? null);
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
