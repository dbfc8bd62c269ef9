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

/** Why a baseline was suggested: it is of the same worker in another run or span, another worker, or any other like it. */
export type Why = "run" | "span" | "worker" | "other";

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

/** From this share of common names on, two traces are of one program. */
const ALIKE = 0.5;
/** Hexadecimal digits of a hash of a program. */
const DIGITS = 4;

/** The share of names of operators and modules that two traces have in common, about; null where one is unknown. */
export function likeness({ program: a }: TraceStatus, { program: b }: TraceStatus): number | null {
  if (a === "" || a.length !== b.length) return null;
  const places = Array.from({ length: a.length / DIGITS }, (_, at) => at * DIGITS);
  const equal = places.filter((at) => a.slice(at, at + DIGITS) === b.slice(at, at + DIGITS));
  return equal.length / places.length;
}

/** Whether both ran one program on the same devices, as far as the status says. */
function isAlike(a: TraceStatus, b: TraceStatus): boolean {
  if (hasDevice(a) !== hasDevice(b)) return false;
  if (hasDevice(a) && a.devices.join() !== b.devices.join()) return false;
  return (likeness(a, b) ?? 1) >= ALIKE;
}

/**
 * What a person would most likely compare this trace with, of those that ran one program on the same devices: the same
 * worker in another run, else another span of it, another worker of the run, anything. Of several the most alike, then
 * the nearest, those before first. Null where none is alike: that one was recorded before another says nothing.
 */
export function suggestBaseline(runs: readonly RunStatus[], current: TraceName): Suggestion | null {
  const trace = findTrace(runs, current)?.trace;
  const at = runs.findIndex(({ name }) => name === current.run);
  const run = runs[at];
  if (!trace || !run || trace.kind === "snapshot") return null;
  const usable = runs.map((each) => ({
    ...each,
    traces: each.traces.filter(
      (other) =>
        other !== trace &&
        other.kind === "trace" &&
        other.state === "ready" &&
        (trace.state !== "ready" || isAlike(trace, other)),
    ),
  }));
  const own = usable[at]?.traces ?? [];
  const before = (all: readonly TraceStatus[]) => {
    const place = run.traces.indexOf(trace);
    const isBefore = (other: TraceStatus) => run.traces.indexOf(other) < place;
    return [...all.filter(isBefore).reverse(), ...all.filter((other) => !isBefore(other))];
  };
  const spans = before(own.filter(({ worker }) => worker === trace.worker));
  const others = [...usable.slice(0, at).reverse(), ...usable.slice(at + 1)];
  const mostLike = (those: readonly FoundTrace[]) =>
    those.toSorted(
      (a, b) => (likeness(trace, b.trace) ?? 0) - (likeness(trace, a.trace) ?? 0),
    )[0] ?? null;
  const those = (run: RunStatus, traces: readonly TraceStatus[]) =>
    traces.map((each) => found(run, each));
  return (
    because("run", mostLike(others.flatMap((each) => likeIn(each, trace, workers(run)) ?? []))) ??
    because("span", mostLike(those(run, spans))) ??
    because("worker", mostLike(those(run, own))) ??
    because("other", mostLike(others.flatMap((each) => those(each, each.traces))))
  );
}

/** Whether something ran on a device, as far as the status says. */
function hasDevice({ views }: TraceStatus): boolean {
  return views.includes("kernels");
}

/** The same worker or rank in another run; the only worker there when this one is the only one here. */
function likeIn(run: RunStatus, trace: TraceStatus, workersHere: number): FoundTrace | null {
  const alike = run.traces.some(
    ({ worker, rank }) => worker === trace.worker || (isNumber(rank) && rank === trace.rank),
  );
  return alike || (workersHere === 1 && workers(run) === 1) ? counterpart(run, trace) : null;
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

function found(run: RunStatus, trace: TraceStatus): FoundTrace {
  return { name: { run: run.name, worker: trace.worker, span: trace.span }, trace };
}

function because(why: Why, trace: FoundTrace | null): Suggestion | null {
  return trace && { ...trace, why };
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
