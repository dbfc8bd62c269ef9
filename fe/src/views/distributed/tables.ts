/** The tables of the view. Pure. */
import type { DeviceProperties, Distributed, RankWorker } from "../../api";
import { distributedTexts as text } from "../../i18n";
import { type Cell, type Column, numberColumn, type Table, tableOf } from "../../table";
import { groupsOf } from "./ranks";

interface DeviceRow {
  readonly worker: RankWorker;
  readonly device: DeviceProperties | null;
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
  const shown = columns.filter(({ key }) => !(key === "worker" && worker !== null));
  // Operations of one name are a row for each type of element: without it such rows cannot be told apart.
  const names = chosen.map((row) =>
    JSON.stringify(["worker", "name", "group"].map((key) => rows[key]?.[row])),
  );
  const hidden = new Set(new Set(names).size < names.length ? [] : ["dtype"]);
  if (!chosen.some((row) => Number(rows.unmatched_ns?.[row] ?? 0) > 0)) {
    for (const key of OF_UNMATCHED) hidden.add(key);
  }
  const waited = {
    column: numberColumn("wait_percent", text.operations.waitShare, "percent", {
      help: text.operations.waitHelp,
      bar: true,
    }),
    cell: (row: number): Cell => {
      const wait = rows.wait_ns?.[row];
      const split = Number(rows.latency_ns?.[row] ?? 0) - Number(rows.unmatched_ns?.[row] ?? 0);
      return typeof wait === "number" && split > 0 ? (wait / split) * 100 : null;
    },
  };
  return tableOf(
    shown.flatMap((column) => [
      {
        column: { ...column, hidden: column.hidden || hidden.has(column.key) },
        cell: (row: number): Cell => rows[column.key]?.[row] ?? null,
      },
      ...(column.key === "wait_ns" ? [waited] : []),
    ]),
    chosen,
  );
}
