/** The trace that the one on screen is compared with: as the address names it, and which one is most plausible. Pure. */
import type { RunStatus, Status, TraceKey, TraceStatus } from "../api";
import type { Dropped } from "./resolve";

/** `run~rank~span`: which trace, and nothing about how to look at it. */
export interface TraceName {
  run: string;
  worker: string;
  span: string;
}

export interface FoundTrace {
  name: TraceName;
  trace: TraceStatus;
}

/** Why a baseline was suggested. */
export type Why =
  | "earlier_run"
  | "earlier_span"
  | "later_run"
  | "later_span"
  | "other_worker"
  | "other_run";

export interface Suggestion extends FoundTrace {
  why: Why;
}

export interface Comparison {
  /** The baseline that the user chose, for all views; null when there is no comparison. */
  set: FoundTrace | null;
  /** What would be compared with in its place; null when nothing else can be shown. */
  suggested: Suggestion | null;
}

export const NO_COMPARISON: Comparison = { set: null, suggested: null };

/** `~` and `%` of a name are written `%7E` and `%25`. */
export function formatTraceName({ run, worker, span }: TraceName): string {
  return [run, worker, span]
    .map((part) => part.replace(/[%~]/g, (sign) => (sign === "%" ? "%25" : "%7E")))
    .join("~");
}

interface WantedTrace {
  run: string;
  /** Null: not said. */
  worker: string | null;
  span: string | null;
}

export function parseTraceName(text: string | null): WantedTrace | null {
  if (!text) return null;
  const [run = "", worker = null, span = null] = text
    .split("~")
    .map((part) => part.replace(/%(7e|25)/gi, (code) => (code === "%25" ? "%" : "~")));
  return run === "" ? null : { run, worker, span };
}

export function sameTraceName(a: TraceName | null, b: TraceName | null): boolean {
  return a?.run === b?.run && a?.worker === b?.worker && a?.span === b?.span;
}

/** `previous` keeps a suggestion where it is while more runs appear. */
export function resolveComparison(
  status: Status,
  current: TraceName | null,
  wanted: string | null,
  previous: Suggestion | null,
): { comparison: Comparison; dropped: Dropped[] } {
  const asked = parseTraceName(wanted);
  const set = asked && findTrace(status.runs, asked);
  const missing = wanted !== null && wanted !== "" && set === null;
  const kept = previous && current && stillThere(status.runs, previous, current);
  return {
    comparison: { set, suggested: kept || (current && suggestBaseline(status.runs, current)) },
    dropped: missing ? [{ kind: "baseline", value: wanted }] : [],
  };
}

/** A run of this name, and in it the worker and the span that were asked for, else the first. */
export function findTrace(runs: readonly RunStatus[], wanted: WantedTrace): FoundTrace | null {
  const run = runs.find(({ name }) => name === wanted.run);
  const traces = run?.traces.filter(
    ({ worker, span }) =>
      (wanted.worker === null || worker === wanted.worker) &&
      (wanted.span === null || span === wanted.span),
  );
  const trace = traces?.find(({ state }) => state === "ready") ?? traces?.[0];
  return run && trace ? found(run, trace) : null;
}

/** The trace of a run that is most like another one: of the same worker, else rank, else of the only worker. */
export function counterpart(run: RunStatus, like: TraceStatus | null): FoundTrace | null {
  const workers = [...new Set(run.traces.map(({ worker }) => worker))];
  const worker =
    workers.find((name) => name === like?.worker) ??
    run.traces.find(({ rank }) => isNumber(rank) && rank === like?.rank)?.worker;
  const traces = worker === undefined ? run.traces : run.traces.filter((t) => t.worker === worker);
  const usable = traces.filter(isUsable);
  const trace =
    usable.find(({ span }) => span === like?.span) ??
    usable.at(-1) ??
    traces.find(({ span }) => span === like?.span) ??
    traces[0];
  return trace ? found(run, trace) : null;
}

/**
 * What a person would most likely compare this trace with: the same worker in the nearest earlier run, else its span
 * before; else the same after it; else another worker of the run, else anything. Runs are in natural order. What could
 * not be read is left out, and work on a device is compared with work on the host only when there is nothing else.
 */
export function suggestBaseline(runs: readonly RunStatus[], current: TraceName): Suggestion | null {
  const trace = findTrace(runs, current)?.trace;
  if (!trace || trace.kind === "snapshot") return null;
  const alike = (other: TraceStatus) =>
    other === trace || other.state !== "ready" || hasDevice(other) === hasDevice(trace);
  const those = (wanted: (other: TraceStatus) => boolean) =>
    runs.map((run) => ({ ...run, traces: run.traces.filter(wanted) }));
  const isTrace = ({ kind }: TraceStatus) => kind === "trace";
  return (
    mostLikely(
      those((other) => isTrace(other) && alike(other)),
      current,
      trace,
    ) ?? mostLikely(those(isTrace), current, trace)
  );
}

function mostLikely(
  runs: readonly RunStatus[],
  current: TraceName,
  trace: TraceStatus,
): Suggestion | null {
  const at = runs.findIndex(({ name }) => name === current.run);
  const run = runs[at];
  if (!run) return null;
  const spans = run.traces.filter(({ worker }) => worker === current.worker);
  const span = spans.indexOf(trace);
  const earlier = runs.slice(0, at).reverse();
  const later = runs.slice(at + 1);
  const alike = (those: readonly RunStatus[]) =>
    first(those, (r) => likeIn(r, trace, workers(run)));
  return (
    because("earlier_run", alike(earlier)) ??
    because(
      "earlier_span",
      first(spans.slice(0, span).reverse(), (t) => usableIn(run, t)),
    ) ??
    because("later_run", alike(later)) ??
    because(
      "later_span",
      first(spans.slice(span + 1), (t) => usableIn(run, t)),
    ) ??
    because(
      "other_worker",
      first(run.traces, (t) => (t.worker === current.worker ? null : usableIn(run, t))),
    ) ??
    because(
      "other_run",
      first([...earlier, ...later], (r) => first(r.traces, (t) => usableIn(r, t))),
    )
  );
}

/** Whether something ran on a device, as far as the status says. */
function hasDevice({ views }: TraceStatus): boolean {
  return views.includes("kernels");
}

/** The same worker or rank in another run; the only worker there when this one is the only one here. */
function likeIn(run: RunStatus, trace: TraceStatus, workersHere: number): FoundTrace | null {
  const usable = { ...run, traces: run.traces.filter(isUsable) };
  const alike = usable.traces.some(
    ({ worker, rank }) => worker === trace.worker || (isNumber(rank) && rank === trace.rank),
  );
  return alike || (workersHere === 1 && workers(usable) === 1) ? counterpart(usable, trace) : null;
}

function stillThere(
  runs: readonly RunStatus[],
  { name, why }: Suggestion,
  current: TraceName,
): Suggestion | null {
  const again = findTrace(runs, name);
  return again && isUsable(again.trace) && !sameTraceName(name, current) ? { ...again, why } : null;
}

function workers({ traces }: RunStatus): number {
  return new Set(traces.map(({ worker }) => worker)).size;
}

function isUsable({ state }: TraceStatus): boolean {
  return state !== "failed";
}

function usableIn(run: RunStatus, trace: TraceStatus): FoundTrace | null {
  return isUsable(trace) ? found(run, trace) : null;
}

function found(run: RunStatus, trace: TraceStatus): FoundTrace {
  return { name: { run: run.name, worker: trace.worker, span: trace.span }, trace };
}

function because(why: Why, trace: FoundTrace | null): Suggestion | null {
  return trace && { ...trace, why };
}

function first<T, R>(items: readonly T[], wanted: (item: T) => R | null): R | null {
  for (const item of items) {
    const result = wanted(item);
    if (result !== null) return result;
  }
  return null;
}

function isNumber(value: number | null | undefined): value is number {
  return typeof value === "number";
}

/** The baseline as requests name it, looked at in the same way as the trace on screen. */
export function baselineKey(name: TraceName, { steps, step_pattern }: TraceKey): TraceKey {
  return {
    ...name,
    ...(steps === undefined ? {} : { steps }),
    ...(step_pattern === undefined ? {} : { step_pattern }),
  };
}
