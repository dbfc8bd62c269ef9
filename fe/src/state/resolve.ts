/** From what the address asks for to a trace that exists. Pure. */
import { isPending, type RunStatus, type Status, type TraceKey, type TraceStatus } from "../api";

/** Null: the address does not say. */
export interface Wanted {
  run: string | null;
  worker: string | null;
  span: string | null;
}

/** Something the address named that does not exist (any more). */
export interface Dropped {
  kind: "run" | "worker" | "span" | "rule" | "pattern" | "steps" | "baseline";
  value: string;
}

interface Resolved {
  run: RunStatus | null;
  trace: TraceStatus | null;
  key: TraceKey | null;
  dropped: Dropped[];
}

/**
 * `previous` keeps an automatic choice where it is: while more runs finish loading, the page must
 * not jump from one to another.
 */
export function resolve(status: Status, wanted: Wanted, previous: TraceKey | null): Resolved {
  const dropped: Dropped[] = [];
  const run =
    named(status.runs, (r) => r.name, wanted.run, "run", dropped) ??
    status.runs.find((r) => r.name === previous?.run) ??
    best(newestFirst(status.runs.filter((r) => r.parent === null)), runRank);
  if (!run) return { run: null, trace: null, key: null, dropped };

  const traces = run.traces;
  const hint = previous;
  const ofWorker = named(traces, (t) => t.worker, wanted.worker, "worker", dropped);
  const worker =
    ofWorker?.worker ??
    traces.find((t) => t.worker === hint?.worker)?.worker ??
    best(traces, traceRank)?.worker;
  const spans = traces.filter((t) => t.worker === worker);
  const trace =
    named(spans, (t) => t.span, wanted.span, "span", dropped) ??
    spans.find((t) => t.span === hint?.span) ??
    best(spans, traceRank) ??
    null;
  const key = trace && { run: run.name, worker: trace.worker, span: trace.span };
  return { run, trace, key, dropped };
}

/** What was recorded last comes first; what says no time keeps its place behind, captures behind all. */
export function newestFirst(runs: readonly RunStatus[]): RunStatus[] {
  return runs.toSorted(
    (a, b) =>
      Number(a.parent !== null) - Number(b.parent !== null) ||
      (b.newest_ms ?? 0) - (a.newest_ms ?? 0),
  );
}

function named<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  name: string | null,
  kind: Dropped["kind"],
  dropped: Dropped[],
): T | undefined {
  if (name === null) return undefined;
  const found = items.find((item) => nameOf(item) === name);
  if (!found) dropped.push({ kind, value: name });
  return found;
}

/** The first with the lowest rank. */
function best<T>(items: readonly T[], rank: (item: T) => number): T | undefined {
  let found: T | undefined;
  for (const item of items) {
    if (found === undefined || rank(item) < rank(found)) found = item;
  }
  return found;
}

/** A memory snapshot alone says least of a run. */
function traceRank(trace: TraceStatus): number {
  if (trace.state === "ready") return trace.kind === "trace" ? 0 : 0.5;
  return isPending(trace) ? 1 : 2;
}

function runRank(run: RunStatus): number {
  return run.traces.length === 0 ? 3 : Math.min(...run.traces.map(traceRank));
}

export function workersOf(run: RunStatus): string[] {
  return [...new Set(run.traces.map((trace) => trace.worker))];
}

export function spansOf(run: RunStatus, worker: string): TraceStatus[] {
  return run.traces.filter((trace) => trace.worker === worker);
}
