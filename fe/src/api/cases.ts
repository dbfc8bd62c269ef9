/** For tests. */
import type { Meta, RunStatus, Status, TraceStatus } from "./types";

/** What the server says of a trace that is ready; `more` is what is different. */
export function traceStatus(more: Partial<TraceStatus> = {}): TraceStatus {
  return {
    worker: "w0",
    span: "1",
    file: "w0.1.pt.trace.json",
    size: 10,
    state: "ready",
    bytes_done: 10,
    bytes_total: 10,
    events: 1,
    reason: null,
    why: null,
    rank: null,
    world_size: null,
    host_name: null,
    notes: 0,
    views: [],
    kind: "trace",
    devices: [],
    program: "",
    ...more,
  };
}

/** A run with these traces. */
export function runStatus(name: string, ...traces: TraceStatus[]): RunStatus {
  const ready = traces.filter(({ state }) => state === "ready").length;
  return {
    name,
    state: "ready",
    ready,
    total: traces.length,
    traces,
    skipped: [],
    dumps: 0,
    newest_ms: null,
    parent: null,
  };
}

/** A log directory with these runs. */
export function statusOf(...runs: RunStatus[]): Status {
  return {
    version: "1",
    logdir: "logs",
    scanning: false,
    error: null,
    why: null,
    skipped: [],
    runs,
  };
}

/** What every answer about this trace says of it. */
export function traceMeta(device_type: Meta["device_type"]): Meta {
  return { run: "r", worker: "w", span: "1", device_type, notes: [] };
}
