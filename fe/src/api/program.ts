/** What the program did: phases, ranges, compiled code, graphs, inference; see docs/api.md. */
import { type Result, useTraceQuery } from "./queries";
import type { CompiledAnswer, EngineAnswer, GraphsAnswer, PhasesAnswer } from "./schema.gen";
import type { TraceKey } from "./types";

export type Phases = PhasesAnswer;
export type Phase = PhasesAnswer["phases"][number]["name"];
export type Compiled = CompiledAnswer;
export type Graphs = GraphsAnswer;
export type Inference = EngineAnswer;

/** With the longest stretches of a phase, if one is given. */
export function usePhases(sel: TraceKey | null, phase: Phase | null): Result<Phases> {
  return useTraceQuery("phases", sel, { phase }, { keep: true });
}

/** The ranges that the program names, as a tree. */
export function useRanges(sel: TraceKey | null) {
  return useTraceQuery("ranges", sel, {});
}

/** The calls of one of them; null for none. */
export function useRangeCalls(sel: TraceKey | null, range: number | null) {
  return useTraceQuery("range_calls", range === null ? null : sel, { range: range ?? 0 });
}

export function useCompiled(sel: TraceKey | null): Result<Compiled> {
  return useTraceQuery("compiled", sel, {});
}

/** With the nodes of one of the graphs, if its number is given. */
export function useGraphs(sel: TraceKey | null, graph: number | null): Result<Graphs> {
  return useTraceQuery("graphs", sel, { graph }, { keep: true });
}

export function useInference(sel: TraceKey | null): Result<Inference> {
  return useTraceQuery("engine", sel, {});
}
