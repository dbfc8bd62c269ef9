/** Pickers for one trace: run, worker, and span where there are several. */
import { useMemo } from "react";
import type { RunStatus, Status, TraceKey, TraceStatus } from "../api";
import { fraction } from "../format";
import { t } from "../i18n";
import { newestFirst, spansOf } from "../state";
import { Combo, type Option } from "../ui";
import { traceProgress } from "./progress";

type Names = Record<"run" | "worker" | "span", string>;

interface Props {
  status: Status | undefined;
  /** Null: none. */
  run: string | null;
  worker: string | null;
  span: string | null;
  /** What they are called, where there are other such pickers. */
  names?: Names;
  /** What was chosen; the rest stays if it can. */
  onChange: (change: Partial<TraceKey>) => void;
}

export function TracePicker({ status, run: name, worker, span, names = t.bar, onChange }: Props) {
  const run = status?.runs.find((each) => each.name === name) ?? null;
  const runs = useMemo(() => newestFirst(status?.runs ?? []).map(runOption), [status]);
  const workers = useMemo(() => (run ? workerOptions(run) : []), [run]);
  const spans = run && worker !== null ? spansOf(run, worker) : [];
  return (
    <>
      <Combo
        label={t.bar.run}
        name={names.run}
        value={name}
        options={runs}
        onChange={(next) => onChange({ run: next })}
      />
      <Combo
        label={t.bar.worker}
        name={names.worker}
        value={worker}
        options={workers}
        onChange={(next) => onChange({ worker: next })}
      />
      {spans.length > 1 && (
        <Combo
          label={t.bar.span}
          name={names.span}
          value={span}
          options={spans.map((trace) => option(trace.span, [trace]))}
          onChange={(next) => onChange({ span: next })}
        />
      )}
    </>
  );
}

function runOption(run: RunStatus): Option {
  return option(run.name, run.traces);
}

function workerOptions(run: RunStatus): Option[] {
  // One pass: a run may have a thousand workers, and this is drawn at every news of them.
  const traces = new Map<string, TraceStatus[]>();
  for (const trace of run.traces) {
    const spans = traces.get(trace.worker);
    if (spans) spans.push(trace);
    else traces.set(trace.worker, [trace]);
  }
  return [...traces].map(([worker, spans]) => option(worker, spans, rankOf(spans)));
}

/** Says of the traces behind an option what is not simply ready. */
function option(
  value: string,
  traces: readonly TraceStatus[],
  about: string | null = null,
): Option {
  const details = [about, stateOf(traces)].filter((detail) => detail !== null);
  return { value, label: value, ...(details.length > 0 ? { detail: details.join(", ") } : {}) };
}

function rankOf(traces: readonly TraceStatus[]): string | null {
  const known = traces.find(({ rank }) => rank !== null && rank !== undefined);
  if (!known || known.rank === null) return null;
  return t.bar.rank(known.rank, known.world_size);
}

function stateOf(traces: readonly TraceStatus[]): string | null {
  const loading = traces.find((trace) => trace.state === "loading");
  if (loading) {
    const progress = traceProgress(loading);
    return progress === null
      ? t.traceState.loading
      : `${t.traceState.loading} ${fraction(progress, 0)}`;
  }
  if (traces.some((trace) => trace.state === "queued")) return t.traceState.queued;
  if (traces.length > 0 && traces.every((trace) => trace.state === "failed")) {
    return t.traceState.failed;
  }
  return null;
}
