/** What there is to see of a file. Pure. */
import type { TraceStatus } from "../api";
import { findView, type ViewId } from "../state";

/** False where the server says that a trace has nothing for a view. */
export function hasData(view: ViewId, trace: TraceStatus | null): boolean {
  if (trace?.kind === "snapshot") return trace.views.includes(view);
  if (trace?.state !== "ready" || !findView(view)?.mayLackData) return true;
  return trace.views.includes(view);
}

/** Whether a view is offered for a file: memory snapshots have one of their own, and some servers more than others. */
export function isOf(view: ViewId, trace: TraceStatus | null): boolean {
  if (findView(view)?.onlyIfOffered && !trace?.views.includes(view)) return false;
  return (trace?.kind === "snapshot") === (view === "snapshot");
}

/** What is shown where a view is asked for: a memory snapshot has a view of its own, and no other. */
export function shownView(wanted: ViewId, trace: TraceStatus | null): ViewId {
  if (trace?.kind !== "snapshot" || hasData(wanted, trace)) return wanted;
  return trace.views[0] ?? "snapshot";
}
