/** What there is to see of a file. Pure. */
import type { RunStatus, TraceStatus } from "../api";
import { findView, type ViewId } from "../state";

/** The view of what a run has beside traces, or in their place: flight-recorder dumps of a job that hangs. */
export const HANG: ViewId = "hang";

export function hasDumps(run: RunStatus | null): boolean {
  return (run?.dumps ?? 0) > 0;
}

/** False where the server says that a trace has nothing for a view. */
export function hasData(view: ViewId, trace: TraceStatus | null): boolean {
  if (view === HANG) return true;
  if (trace?.kind === "snapshot") return trace.views.includes(view);
  if (trace?.state !== "ready" || !findView(view)?.mayLackData) return true;
  return trace.views.includes(view);
}

/** Whether a view is offered for a file: memory snapshots have one of their own, and some servers more than others. */
export function isOf(view: ViewId, trace: TraceStatus | null, run: RunStatus | null): boolean {
  if (view === HANG) return hasDumps(run);
  if (!trace && hasDumps(run)) return false;
  if (findView(view)?.onlyIfOffered && !trace?.views.includes(view)) return false;
  return (trace?.kind === "snapshot") === (view === "snapshot");
}

/** What is shown where a view is asked for: memory snapshots and dumps without traces have a view of their own. */
export function shownView(
  wanted: ViewId,
  trace: TraceStatus | null,
  run: RunStatus | null,
): ViewId {
  if (!trace && hasDumps(run)) return HANG;
  if (trace?.kind !== "snapshot" || hasData(wanted, trace)) return wanted;
  return trace.views[0] ?? "snapshot";
}
