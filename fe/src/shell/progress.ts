/** How far loading is, summed up. Pure. */
import { isPending, type SkippedEntry, type Status, type TraceStatus } from "../api";
import { reasonText } from "../i18n";

interface LoadSummary {
  /** Traces queued or loading. */
  pending: number;
  bytesDone: number;
  bytesTotal: number;
  /** 0…1 of the bytes of the pending traces, or null when their size is unknown. */
  progress: number | null;
  failed: number;
  /** Directories that could not be listed. */
  unlisted: number;
  skipped: number;
}

export function traceProgress(trace: TraceStatus): number | null {
  return trace.bytes_total > 0 ? Math.min(1, trace.bytes_done / trace.bytes_total) : null;
}

export function summarise(status: Status): LoadSummary {
  const traces = status.runs.flatMap((run) => run.traces);
  const pending = traces.filter(isPending);
  const bytesDone = sum(pending, (trace) => trace.bytes_done);
  const bytesTotal = sum(pending, (trace) => trace.bytes_total || trace.size);
  const others = fileRows(status).filter((row) => row.trace === null);
  const unlisted = others.filter((row) => row.state === "unlisted").length;
  return {
    pending: pending.length,
    bytesDone,
    bytesTotal,
    progress: bytesTotal > 0 ? Math.min(1, bytesDone / bytesTotal) : null,
    failed: traces.filter((trace) => trace.state === "failed").length,
    unlisted,
    skipped: others.length - unlisted,
  };
}

export interface FileRow {
  run: string;
  file: string;
  /** Null for what is none. */
  trace: TraceStatus | null;
  state: TraceStatus["state"] | "skipped" | "unlisted";
  reason: string | null;
}

/** Every file of the log directory; those that need attention first. */
export function fileRows({ runs, skipped = [] }: Pick<Status, "runs" | "skipped">): FileRow[] {
  const rows = [
    ...skippedRows("", skipped),
    ...runs.flatMap((run) => [
      ...run.traces.map((trace) => ({
        run: run.name,
        file: trace.file,
        trace,
        state: trace.state,
        reason: trace.reason && reasonText(trace.reason, trace.why),
      })),
      ...skippedRows(run.name, run.skipped),
    ]),
  ];
  return rows.toSorted((a, b) => attention(a) - attention(b));
}

function skippedRows(run: string, files: readonly SkippedEntry[]): FileRow[] {
  return files.map(({ file, reason, why, unlisted }) => ({
    run,
    file,
    trace: null,
    state: unlisted ? "unlisted" : "skipped",
    reason: reasonText(reason, why),
  }));
}

const ATTENTION: readonly FileRow["state"][] = [
  "unlisted",
  "failed",
  "skipped",
  "loading",
  "queued",
  "ready",
];

function attention({ state }: FileRow): number {
  return ATTENTION.indexOf(state);
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
