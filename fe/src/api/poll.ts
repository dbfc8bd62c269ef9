/** How often to ask for the status. Pure, so that the rule can be tested. */
import type { Status, TraceStatus } from "./types";

export const LOADING_MS = 2_000;
export const IDLE_MS = 15_000;
/** After this many failed requests in a row the page says so. */
export const MAX_FAILURES = 3;
/** How often to look whether a lost server is back. */
export const LOST_MS = 5_000;

export function isPending(trace: TraceStatus): boolean {
  return trace.state === "queued" || trace.state === "loading";
}

export function isBusy(status: Status): boolean {
  return status.scanning || status.runs.some((run) => run.traces.some(isPending));
}

/** Milliseconds until the next request. */
export function pollDelay(status: Status | undefined, isLost: boolean): number {
  if (isLost) return LOST_MS;
  return status === undefined || isBusy(status) ? LOADING_MS : IDLE_MS;
}
