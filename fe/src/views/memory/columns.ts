/** The server's tables as they are shown. Pure. */
import type { MemoryAliveTable, MemoryEventsTable, MemoryOperatorsTable } from "../../api";
import { MISSING, NS_PER } from "../../format";
import { memoryTexts as text } from "../../i18n";
import {
  type Column,
  declared,
  derive,
  inWords,
  numberAt,
  numberColumn,
  shareOf,
  type Table,
  textAt,
} from "../../table";

const MOMENTS: ReadonlySet<string> = new Set(["alloc_ns", "release_ns"]);

/** Sizes go from bytes to gigabytes in one table: each has a unit of its own. */
function shown(column: Column): Column {
  return {
    ...column,
    ...(column.unit === "bytes" && { ownUnits: true }),
    ...(MOMENTS.has(column.key) && { atMost: NS_PER.ms }),
    ...(column.key === "operator" && {
      brief: (name: string) => (name === MISSING ? text.outside : name),
    }),
  };
}

/** Without the device, which is chosen; the operator first, since it names the row. */
function blockColumns(columns: readonly Column[]): Column[] {
  return columns.filter(({ key }) => key !== "device").map(shown);
}

const SHARE = { key: "share", label: text.share, help: text.shareHelp };

export function aliveTable({ columns, rows, meta }: MemoryAliveTable): Table {
  return derive({ columns: blockColumns(columns), rows }, [
    shareOf("bytes", meta.at?.allocated, SHARE),
  ]);
}

export function eventsTable({ columns, rows }: Pick<MemoryEventsTable, "columns" | "rows">): Table {
  return { columns: blockColumns(columns), rows };
}

/** Shares and averages are there to be asked for. */
export function operatorsTable({ columns, rows }: MemoryOperatorsTable): Table {
  const hidden = declared({ columns }).map(({ column, ...how }) => ({
    ...how,
    column: shown({ ...column, hidden: true }),
  }));
  return derive({ columns: columns.map(shown), rows }, hidden);
}

/** Blocks summed for each operator and what encloses it, the largest first, and what was there before. */
export function holdersTable({ columns, rows, meta }: MemoryAliveTable): Table {
  const sums = new Map<string, { operator: string; parent: string; sizes: number[] }>();
  for (const row of (rows.operator ?? []).keys()) {
    const [operator, parent] = [textAt(rows, "operator", row), textAt(rows, "parent", row)];
    const key = JSON.stringify([operator, parent]);
    const sum = sums.get(key) ?? { operator, parent, sizes: [] };
    sum.sizes.push(numberAt(rows, "bytes", row) ?? 0);
    sums.set(key, sum);
  }
  const groups = [...sums.values()].map(({ operator, parent, sizes }) => ({
    operator,
    parent,
    blocks: sizes.length as number | null,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    largest: Math.max(...sizes) as number | null,
  }));
  if (meta.unknown_bytes) {
    groups.push({
      operator: text.beforeRecording,
      parent: "",
      blocks: null,
      bytes: meta.unknown_bytes,
      largest: null,
    });
  }
  groups.sort((a, b) => b.bytes - a.bytes);
  const column = (key: string) => columns.filter((other) => other.key === key).map(shown);
  const table = {
    columns: [
      ...column("operator"),
      ...column("parent"),
      numberColumn("blocks", text.blocks, "count", { help: text.blocksHelp }),
      ...column("bytes").map((bytes) => ({ ...inWords(bytes), help: text.holdersBytesHelp })),
      numberColumn("largest", text.largest, "bytes", { help: text.largestHelp, ownUnits: true }),
    ] satisfies Column[],
    rows: Object.fromEntries(
      (["operator", "parent", "blocks", "bytes", "largest"] as const).map((key) => [
        key,
        groups.map((group) => group[key]),
      ]),
    ),
  };
  return derive(table, [shareOf("bytes", meta.at?.allocated, SHARE)]);
}
