/** How often to ask for the status. Pure, so that the rule can be tested. */
import type { Status, TraceStatus } from "./types";

export const LOADING_MS = 2_000;
export const IDLE_MS = 15_000;
/** After this many failed requests in a row the page says so and stops asking. */
export const MAX_FAILURES = 3;

export function isPending(trace: TraceStatus): boolean {
  return trace.state === "queued" || trace.state === "loading";
}

export function isBusy(status: Status): boolean {
  return status.scanning || status.runs.some((run) => run.traces.some(isPending));
}

/** Milliseconds until the next request, or false to stop. */
export function pollDelay(status: Status | undefined, gaveUp: boolean): number | false {
  if (gaveUp) return false;
  return status === undefined || isBusy(status) ? LOADING_MS : IDLE_MS;
}
