/** The tables of the view. Pure. */
import type { Distributed, RankDevice, RankWorker } from "../../api";
import { median } from "../../format";
import { distributedTexts as text } from "../../i18n";
import type { Cell, Column, Table } from "../../table";
import {
  groupLabel,
  groupsOf,
  PARTS,
  type Part,
  type RankRow,
  rangesOf,
  waitingOf,
  waitParts,
} from "./ranks";

/** A row for each rank; `definitions` are those of the answer. */
export function rankTable(rows: readonly RankRow[], definitions: readonly Column[]): Table {
  const middle = median(rows.flatMap(({ numbers }) => numbers?.duration_ns ?? []));
  const defined = (key: Part): Column =>
    definitions.find((column) => column.key === key) ?? {
      key,
      label: key,
      type: "number",
      unit: "ns",
    };
  const number = (key: Part) => ({
    column: defined(key),
    cell: ({ numbers }: RankRow): Cell => numbers?.[key] ?? null,
  });
  const percent = (
    key: string,
    words: { readonly label: string; readonly help: string },
    share: (numbers: NonNullable<RankRow["numbers"]>) => readonly [number | null, number] | null,
  ) => ({
    column: {
      key,
      label: words.label,
      help: words.help,
      type: "number" as const,
      unit: "percent" as const,
      bar: true,
    },
    cell: ({ numbers }: RankRow): Cell => {
      if (!numbers) return null;
      const [part, whole] = share(numbers) ?? [null, 0];
      return part !== null && whole > 0 ? (part / whole) * 100 : null;
    },
  });
  const nodes = new Set(rows.map(({ worker }) => worker.node));
  // "rank7" says it already.
  const told = rows.every(({ worker }) => worker.worker === `rank${worker.rank}`);
  const columns: readonly { column: Column; cell: (row: RankRow) => Cell }[] = [
    {
      column: { key: "worker", label: text.columns.worker, type: "string", unit: null },
      cell: ({ worker }) => worker.worker,
    },
    {
      column: {
        key: "rank",
        label: text.columns.rank,
        type: "number",
        unit: null,
        hidden: told,
      },
      cell: ({ worker }) => worker.rank,
    },
    {
      column: {
        key: "node",
        label: text.columns.node,
        type: "string",
        unit: null,
        hidden: nodes.size < 2,
      },
      cell: ({ worker }) => worker.node,
    },
    {
      column: {
        key: "duration_ns",
        label: text.columns.duration,
        type: "number",
        unit: "ns",
        help: text.columns.durationHelp,
      },
      cell: ({ numbers }) => numbers?.duration_ns ?? null,
    },
    {
      column: {
        key: "delta_ns",
        label: text.columns.delta,
        type: "number",
        unit: "ns",
        help: text.columns.deltaHelp,
        hidden: true,
      },
      cell: ({ numbers }) => (numbers && middle !== null ? numbers.duration_ns - middle : null),
    },
    ...PARTS.map(number),
    percent("exposed_percent", text.columns.exposed, (of) => [
      of.exposed_communication_ns,
      of.duration_ns,
    ]),
    percent("hidden_percent", text.columns.hidden, (of) => [
      of.overlap_ns,
      of.overlap_ns + of.communication_only_ns,
    ]),
    ...waitParts(rows).map(number),
    percent("wait_percent", text.columns.waitShare, waitingOf),
    {
      column: {
        key: "steps",
        label: text.columns.steps,
        type: "number",
        unit: "count",
        help: text.columns.stepsHelp,
        hidden: true,
      },
      cell: ({ worker }) => worker.steps.names.length,
    },
  ];
  return tableOf(columns, rows);
}

interface DeviceRow {
  readonly worker: RankWorker;
  readonly device: RankDevice | null;
  readonly memberOf: string;
}

/** A row for each device that did some work; one for a rank without any. */
export function deviceTable({ workers, groups }: Distributed): Table {
  const rows = workers.flatMap((worker): DeviceRow[] => {
    const memberOf = groupsOf(groups, worker.rank).join(", ");
    return worker.devices.length === 0
      ? [{ worker, device: null, memberOf }]
      : worker.devices.map((device) => ({ worker, device, memberOf }));
  });
  const column = (
    key: keyof typeof text.devices.columns,
    cell: (row: DeviceRow) => Cell,
    more: Partial<Column> = {},
  ) => ({
    column: { key, label: text.devices.columns[key], type: "string" as const, unit: null, ...more },
    cell,
  });
  return tableOf(
    [
      column("node", ({ worker }) => worker.node),
      column("process", ({ worker }) => worker.process),
      column("worker", ({ worker }) => worker.worker),
      column("rank", ({ worker }) => worker.rank, { type: "number" }),
      column("device", ({ device }) => (device ? text.devices.gpu(device.id) : null)),
      column("name", ({ device }) => device?.name ?? null, { grow: true }),
      column("memory_bytes", ({ device }) => device?.memory_bytes ?? null, {
        type: "number",
        unit: "bytes",
        help: text.devices.memoryHelp,
      }),
      column("compute_capability", ({ device }) => device?.compute_capability ?? null),
      column("backend", ({ worker }) => worker.backend),
      column("groups", ({ memberOf }) => memberOf || null),
    ],
    rows,
  );
}

export function groupTable(groups: Distributed["groups"]): Table {
  const columns = text.groups.columns;
  return tableOf(
    [
      {
        column: { key: "name", label: columns.name, type: "string", unit: null },
        cell: (group) => groupLabel(group) || text.groups.unnamed,
      },
      {
        column: {
          key: "size",
          label: columns.size,
          type: "number",
          unit: "count",
          help: text.groups.sizeHelp,
        },
        cell: ({ size }) => size,
      },
      {
        column: {
          key: "present",
          label: columns.present,
          type: "number",
          unit: "count",
          help: text.groups.presentHelp,
        },
        cell: ({ present }) => present,
      },
      {
        column: { key: "ranks", label: columns.ranks, type: "string", unit: null },
        cell: ({ ranks }) => rangesOf(ranks) || null,
      },
    ],
    groups,
  );
}

/** Shown when asked for. */
const HIDDEN = ["kind", "mean_transfer_ns", "recognised"];

/** What could not be matched is shown where there is any. */
const OF_UNMATCHED = ["matched", "unmatched_ns"];

/** The operations of one worker and group, or of all (null), with the share of waiting. */
export function operationTable(
  { columns, rows }: Distributed["operations"],
  worker: string | null,
  group: string | null,
): Table {
  const count = rows.name?.length ?? 0;
  const chosen = Array.from({ length: count }, (_, row) => row).filter(
    (row) =>
      (worker === null || rows.worker?.[row] === worker) &&
      (group === null || rows.group?.[row] === group),
  );
  // The name comes first: it says what the row is and cannot be hidden.
  const shown = columns
    .filter(({ key }) => !(key === "worker" && worker !== null))
    .toSorted((a, b) => Number(b.key === "name") - Number(a.key === "name"));
  // Operations of one name are a row for each type of element: without it such rows cannot be told apart.
  const names = chosen.map((row) =>
    JSON.stringify(["worker", "name", "group"].map((key) => rows[key]?.[row])),
  );
  const hidden = new Set(new Set(names).size < names.length ? HIDDEN : [...HIDDEN, "dtype"]);
  if (!chosen.some((row) => Number(rows.unmatched_ns?.[row] ?? 0) > 0)) {
    for (const key of OF_UNMATCHED) hidden.add(key);
  }
  const waited = {
    column: {
      key: "wait_percent",
      label: text.columns.waitShare.label,
      help: text.operations.waitHelp,
      type: "number" as const,
      unit: "percent" as const,
      bar: true,
    },
    cell: (row: number): Cell => {
      const wait = rows.wait_ns?.[row];
      const split = Number(rows.latency_ns?.[row] ?? 0) - Number(rows.unmatched_ns?.[row] ?? 0);
      return typeof wait === "number" && split > 0 ? (wait / split) * 100 : null;
    },
  };
  return tableOf(
    shown.flatMap((column) => [
      {
        column: { ...column, hidden: hidden.has(column.key) },
        cell: (row: number): Cell => rows[column.key]?.[row] ?? null,
      },
      ...(column.key === "wait_ns" ? [waited] : []),
    ]),
    chosen,
  );
}

function tableOf<R>(
  columns: readonly { column: Column; cell: (row: R) => Cell }[],
  rows: readonly R[],
): Table {
  return {
    columns: columns.map(({ column }) => column),
    rows: Object.fromEntries(columns.map(({ column, cell }) => [column.key, rows.map(cell)])),
  };
}
