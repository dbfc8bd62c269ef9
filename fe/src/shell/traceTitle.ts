import type { Status } from "../api";
import { t } from "../i18n";
import type { TraceName } from "../state";

/** A trace in as few words as tell it apart: its run, its worker and span where there are several. Pure. */
export function traceTitle(status: Status | undefined, { run, worker, span }: TraceName): string {
  const traces = status?.runs.find(({ name }) => name === run)?.traces ?? [];
  const workers = new Set(traces.map((trace) => trace.worker));
  const spans = traces.filter((trace) => trace.worker === worker);
  return [
    run,
    ...(workers.size > 1 ? [worker] : []),
    ...(spans.length > 1 ? [t.comparison.span(span)] : []),
  ].join(" · ");
}
