/** The tables of the run page, made of its answers. Pure. */
import type {
  BandwidthFit,
  CollectiveRow,
  CollectiveTable,
  RanksOverview,
  RunGroup,
} from "../../api";
import { rangesOf } from "../../format";
import { ranksTexts as text } from "../../i18n";
import {
  type Cell,
  type Column,
  declaredCells,
  declaredTable,
  type Rows,
  type Table,
  tableOf,
  textColumn,
} from "../../table";
import { type Fold, fold } from "./fold";

/** Fractions as percents, which are drawn as bars. */
const percent = (share: number | null): Cell => (share === null ? null : share * 100);
const SHARE = { bar: true, unit: "percent" } as const;

/** Hidden where all ranks have the same. */
const ALIKE: ReadonlySet<string> = new Set([
  "host",
  "peers",
  "steps",
  "memory_bytes",
  "collectives",
  "unmatched",
  "named",
]);

export function ranksTable({
  ranks,
  rank_columns: columns,
}: Pick<RanksOverview, "ranks" | "rank_columns">): Table {
  const rows = ranks as unknown as Rows;
  const isNumbered = ranks.worker.every((worker, at) => worker === `rank${ranks.rank[at]}`);
  const isHidden = ({ key, hidden }: Column) =>
    key === "rank" ? isNumbered : hidden || (ALIKE.has(key) && new Set(rows[key]).size < 2);
  return { columns: columns.map((each) => ({ ...each, hidden: isHidden(each) })), rows };
}

/** `folds`: the rows that are shown, each with how many are like it. */
export function collectivesTable(
  { columns }: Pick<CollectiveTable, "columns">,
  folds: readonly Fold<CollectiveRow>[],
  groups: readonly RunGroup[],
): Table {
  const rows = folds.map(({ row, count }) => {
    const role = groups[row.group_number]?.role;
    return count > 1 && role ? { ...row, group: alikeName(count, role) } : row;
  });
  const some = (known: (row: CollectiveRow) => boolean) => ({ hidden: !rows.some(known) });
  return declaredTable(columns, rows, {
    group: { brief: (label) => (label.endsWith(")") ? briefGroup(label) : label) },
    link: { cell: ({ link }) => text.collectives.link[link] },
    dtype: {
      hidden: new Set(rows.map((row) => row.dtype)).size < 2,
      cell: ({ dtype }) => dtype || null,
    },
    matched: some((row) => row.matched < row.calls),
    peak_share: {
      ...SHARE,
      ...some((row) => row.peak_share !== null),
      cell: (row) => percent(row.peak_share),
    },
    culprit: { type: "string", cell: (row) => nameOf(row.culprit, row.culprit_worker) },
    culprit_share: { ...SHARE, cell: (row) => percent(row.culprit_share) },
    algorithm: {
      ...some((row) => row.algorithm !== ""),
      cell: ({ algorithm }) => algorithm || null,
    },
  });
}

/** Whether a row of the collectives is one that a fit was made of, with so many bytes. */
export function isOf(
  row: CollectiveRow,
  groups: readonly RunGroup[],
  { kind, role, link, size }: BandwidthFit,
  bytes: number,
): boolean {
  const alike = row.kind === kind && row.link === link && row.size === size && row.bytes === bytes;
  return alike && groups[row.group_number]?.role === role;
}

/** With both ends: groups of one kind differ in the number at the end. */
function briefGroup(label: string): string {
  return label.length <= 20 ? label : `${label.slice(0, 9)}…${label.slice(-10)}`;
}

function nameOf(rank: number | null, worker: string | null): string | null {
  return rank === null ? worker : text.rank(String(rank));
}

/** Groups that do the same and take about the same time. */
export function foldGroups(groups: readonly RunGroup[]): Fold<RunGroup>[] {
  return fold(
    groups,
    ({ role, size, present, link, calls }) => [role, size, present, link, calls].join(),
    ({ transfer_ns: transfer, wait_ns: wait }) => [transfer, wait],
  );
}

/** Collectives of one kind and size in such groups. */
export function foldCollectives(
  rows: readonly CollectiveRow[],
  groups: readonly RunGroup[],
): Fold<CollectiveRow>[] {
  return fold(
    rows,
    ({ name, group_number: at, size, bytes, dtype, link, calls }) =>
      [name, groups[at]?.role, size, bytes, dtype, link, calls].join(),
    ({ wait_ns: wait, transfer_ns: transfer }) => [wait ?? 0, transfer ?? 0],
  );
}

/** What several groups are called together. */
function alikeName(count: number, role: RunGroup["role"]): string {
  return text.collectives.alike(String(count), text.layout.roles[role].toLowerCase());
}

export function groupsTable(
  folds: readonly Fold<RunGroup>[],
  columns: RanksOverview["group_columns"],
): Table {
  const groups = folds.map(({ row, count }) =>
    count > 1 ? { ...row, label: alikeName(count, row.role) } : row,
  );
  return declaredTable(columns, groups, {
    role: { cell: ({ role }) => text.layout.roles[role] },
    ranks: { type: "string", unit: null, cell: membersOf },
    link: { cell: ({ link }) => text.collectives.link[link] },
    transfer_ns: { cell: (group) => timeOf(group, group.transfer_ns) },
    wait_ns: { cell: (group) => timeOf(group, group.wait_ns) },
  });
}

/** Unknown where nothing was matched, not 0. */
const timeOf = ({ calls }: RunGroup, ns: number): Cell => (calls > 0 ? ns : null);

/** `0–7`, or with an even distance `0, 8, … 56`. */
export function membersOf({ ranks }: Pick<RunGroup, "ranks">): string {
  const [first = 0, second = 0] = ranks;
  const stride = second - first;
  const even = ranks.every((rank, at) => rank === first + at * stride);
  if (ranks.length > 3 && stride > 1 && even) return `${first}, ${second}, … ${ranks.at(-1)}`;
  return rangesOf(ranks);
}

export function fitsTable(columns: readonly Column[], fits: readonly BandwidthFit[]): Table {
  return tableOf(
    [
      {
        column: textColumn("which", text.scatter.which),
        cell: fitName,
      },
      ...declaredCells<BandwidthFit>(columns, {
        points: { type: "number", unit: "count", cell: ({ points }) => points.length },
        residual: { unit: "percent", cell: ({ residual }) => percent(residual) },
      }),
    ],
    fits,
  );
}

export function fitName({ kind, role, size, link }: BandwidthFit): string {
  return text.scatter.series(
    kind,
    text.layout.roles[role].toLowerCase(),
    String(size),
    link === "unknown" ? "" : text.collectives.link[link],
  );
}

export function moeTable({
  moe,
  moe_columns: columns,
}: Pick<RanksOverview, "moe" | "moe_columns">): Table {
  return declaredTable(columns, moe, {
    rank: { type: "string", cell: ({ rank }) => nameOf(rank, null) },
    rank_share: { ...SHARE, cell: (row) => percent(row.rank_share) },
  });
}

export function fsdpTable({
  fsdp,
  fsdp_columns: columns,
}: Pick<RanksOverview, "fsdp" | "fsdp_columns">): Table {
  const { yes, no } = text.fsdp;
  const said = (answer: boolean | null) => (answer === null ? null : answer ? yes : no);
  return declaredTable(columns, fsdp, {
    reshards: { type: "string", cell: ({ reshards }) => said(reshards) },
    late_share: { ...SHARE, cell: (row) => percent(row.late_share) },
  });
}
