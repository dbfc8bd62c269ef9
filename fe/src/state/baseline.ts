/** The comparison that every view shows, ready to be asked for. */
import { useMemo } from "react";
import type { TraceKey, TraceStatus } from "../api";
import { baselineKey, sameTraceName, type TraceName } from "./comparison";
import { useTrace } from "./trace";

export interface Baseline {
  readonly name: TraceName;
  readonly trace: TraceStatus;
  /** It is the trace that is shown. */
  readonly itself: boolean;
  /** For requests; null while there is nothing to compare. */
  readonly key: TraceKey | null;
}

/** Null when nothing was set. */
export function useBaseline(): Baseline | null {
  const { sel, comparison } = useTrace();
  const { set } = comparison;
  return useMemo(() => {
    if (!set || !sel) return null;
    const itself = sameTraceName(set.name, sel);
    const key = itself || set.trace.state !== "ready" ? null : baselineKey(set.name, sel);
    return { ...set, itself, key };
  }, [set, sel]);
}
