/** The trace on screen, resolved once and shared. */
import { createContext, type ReactNode, useContext, useMemo, useRef } from "react";
import { type RunStatus, type TraceKey, type TraceStatus, useStatus } from "../api";
import { type Comparison, NO_COMPARISON, resolveComparison, type Suggestion } from "./comparison";
import { useParams } from "./hooks";
import { type Dropped, resolve } from "./resolve";
import { stepChoice } from "./steps";

export interface Selection {
  /** Null while nothing can be shown: no runs, or the status is not here yet. */
  sel: TraceKey | null;
  run: RunStatus | null;
  trace: TraceStatus | null;
  /** What it is compared with. */
  comparison: Comparison;
  /** What the address asked for in vain. */
  dropped: Dropped[];
}

const NOTHING: Selection = {
  sel: null,
  run: null,
  trace: null,
  comparison: NO_COMPARISON,
  dropped: [],
};

const SelectionContext = createContext<Selection>(NOTHING);

export function SelectionProvider({ children }: { children: ReactNode }) {
  const status = useStatus().data;
  const { r, k, s, sr, sp, b } = useParams();
  const previous = useRef<TraceKey | null>(null);
  const suggested = useRef<{ for: TraceKey; baseline: Suggestion | null } | null>(null);

  const selection = useMemo<Selection>(() => {
    if (!status) return NOTHING;
    const wanted = { run: r ?? null, worker: k ?? null, span: s ?? null };
    const { key, run, trace, dropped } = resolve(status, wanted, previous.current);
    const steps = stepChoice({
      ...(sr === undefined ? {} : { sr }),
      ...(sp === undefined ? {} : { sp }),
    });
    const next = key && { ...key, ...steps.choice };
    // Keep the object while it means the same, so that queries and effects see no change.
    if (!sameTrace(next, previous.current)) previous.current = next;
    const sel = previous.current;
    const before = suggested.current?.for === sel ? (suggested.current?.baseline ?? null) : null;
    const compared = resolveComparison(status, sel, b, before);
    suggested.current = sel && { for: sel, baseline: compared.comparison.suggested };
    return {
      sel,
      run,
      trace,
      comparison: compared.comparison,
      dropped: [...dropped, ...steps.dropped, ...compared.dropped],
    };
  }, [status, r, k, s, sr, sp, b]);

  return <SelectionContext value={selection}>{children}</SelectionContext>;
}

function sameTrace(a: TraceKey | null, b: TraceKey | null): boolean {
  return (
    a?.run === b?.run &&
    a?.worker === b?.worker &&
    a?.span === b?.span &&
    a?.steps === b?.steps &&
    a?.step_pattern === b?.step_pattern
  );
}

export function useSelection(): Selection {
  return useContext(SelectionContext);
}
