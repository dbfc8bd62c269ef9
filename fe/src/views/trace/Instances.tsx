/** The instances of a finding: marked over the whole height, and as a list to go through. */
import { useMemo } from "react";
import { useOverview } from "../../api";
import { momentIn, type TimeWindow } from "../../draw";
import { count, duration } from "../../format";
import { traceTexts as text, timelineTexts } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import { SimpleTable, type Table, textColumn } from "../../table";
import type { Flags } from "../../timeline";
import { Button, Link, QueryPanel } from "../../ui";
import {
  type FindingInstances,
  type Instance,
  instancesOf,
  nextInstance,
  pickedInstance,
} from "./findingInstances";
import { params } from "./params";
import { useModel, useTraceState } from "./useTraceModel";

/** Rows of the list around the one that is looked at. */
const ROWS = 50;

interface InstancesState {
  readonly id: string;
  readonly query: ReturnType<typeof useOverview>;
  readonly instances: readonly Instance[];
  readonly current: number;
  readonly flags: Flags | null;
  readonly go: (at: number) => void;
  readonly step: (by: -1 | 1) => void;
}

export function useInstances(): InstancesState {
  const { pick, stage } = useModel();
  const { ranks, event } = useTraceState();
  const { picked } = event;
  const main = ranks[0] ?? null;
  const { sel } = useTrace();
  const [id] = useAddress(params.finding);
  const query = useOverview(id === "" ? null : sel);
  const { data } = query;
  const instances = useMemo(
    () => (data && id !== "" ? (instancesOf(data, id)?.instances ?? []) : []),
    [data, id],
  );
  const own = picked?.worker === main?.worker ? picked : null;
  const current = own ? instances.findIndex(({ row }) => row === own.row) : -1;
  const offset = main?.offset ?? 0;
  const flags = useMemo<Flags | null>(
    () =>
      instances.length === 0
        ? null
        : {
            windows: instances.map(({ start_ns, duration_ns }) => ({
              start: start_ns + offset,
              end: start_ns + offset + duration_ns,
            })),
            current,
          },
    [instances, offset, current],
  );
  const go = (at: number) => {
    const instance = instances[at];
    if (!instance || !main) return;
    const slice = pickedInstance(main.worker, offset, instance);
    pick(slice);
    stage.current?.fit({ start: slice.start, end: slice.start + slice.duration }, 1);
  };
  const step = (by: -1 | 1) => {
    const { start, end } = stage.current?.window ?? { start: 0, end: 0 };
    go(nextInstance(instances, current, { start: start - offset, end: end - offset }, by));
  };
  return { id, query, instances, current, flags, go, step };
}

export function InstancesPanel() {
  const state = useInstances();
  const { whole } = useTraceState().windows;
  const [, setId] = useAddress(params.finding);
  const clear = <Button onClick={() => setId("")}>{text.clearFinding}</Button>;
  return (
    <QueryPanel title={text.instances} query={state.query} actions={clear}>
      {(answer) => {
        const found = instancesOf(answer, state.id);
        if (!found) return <p className="muted">{text.noFinding}</p>;
        return found.instances.length === 0 ? (
          <p className="muted">
            {found.title}. {text.noInstances}
          </p>
        ) : (
          <InstanceList found={found} state={state} whole={whole} />
        );
      }}
    </QueryPanel>
  );
}

function InstanceList({
  found: { title, count: all },
  state: { instances, current, go, step },
  whole,
}: {
  found: FindingInstances;
  state: InstancesState;
  whole: TimeWindow;
}) {
  const n = instances.length;
  const from = Math.max(0, Math.min(current - ROWS / 2, n - ROWS));
  const rows = instances.slice(from, from + ROWS);
  return (
    <div className="trace-instances trace-range">
      <div className="trace-instances-head">
        <span>{title}</span>
        <Button
          icon
          aria-label={text.previousInstance}
          title={`${text.previousInstance} (Shift N)`}
          disabled={current === 0}
          onClick={() => step(-1)}
        >
          ‹
        </Button>
        <Button
          icon
          aria-label={text.nextInstance}
          title={`${text.nextInstance} (N)`}
          disabled={current === n - 1}
          onClick={() => step(1)}
        >
          ›
        </Button>
        <span role="status" className="muted num">
          {current < 0 ? text.instancesAre(count(n)) : text.hitOf(count(current + 1), count(n))}
          {all > n && ` ${text.instancesCut(count(all))}`}
        </span>
      </div>
      <SimpleTable
        caption={
          n > ROWS
            ? text.instancesShown(count(from + 1), count(from + rows.length), count(n))
            : text.instances
        }
        table={tableOf(rows, whole)}
        renderName={(row, name) => (
          <Link
            aria-current={from + row === current ? "true" : undefined}
            onClick={() => go(from + row)}
          >
            {name}
          </Link>
        )}
      />
    </div>
  );
}

function tableOf(rows: readonly Instance[], whole: TimeWindow): Table {
  return {
    columns: [
      textColumn("name", text.sliceName),
      textColumn("step", text.step),
      textColumn("start", timelineTexts.start),
      textColumn("duration", timelineTexts.duration),
    ],
    rows: {
      name: rows.map(({ name }) => name),
      step: rows.map(({ step }) => step ?? ""),
      start: rows.map(({ start_ns }) => momentIn(start_ns, whole, 1e6)),
      duration: rows.map(({ duration_ns }) => duration(duration_ns)),
    },
  };
}
