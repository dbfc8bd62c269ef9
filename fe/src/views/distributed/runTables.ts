/** The tables of the run page, made of its answers. Pure. */
import type { BandwidthFit, CollectiveRow, RanksOverview, RunGroup } from "../../api";
import type { Unit } from "../../format";
import { ranksTexts as text } from "../../i18n";
import {
  type Cell,
  type Column,
  declaredCells,
  declaredTable,
  type Rows,
  type Table,
  tableOf,
} from "../../table";
import { rangesOf } from "./ranks";

type Words = readonly string[];

/** A column with its words: label and help. */
function column(
  key: string,
  [label = key, help = ""]: Words,
  type: Column["type"],
  unit: Unit | null = null,
  more: Partial<Column> = {},
): Column {
  return { key, label, type, unit, ...(help ? { help } : {}), ...more };
}

/** Fractions as percents, which are drawn as bars. */
const percent = (share: number | null): Cell => (share === null ? null : share * 100);
const BAR = { bar: true } as const;
const SHARE = { ...BAR, unit: "percent" } as const;

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

export function collectivesTable(rows: readonly CollectiveRow[]): Table {
  const { columns: words, link } = text.collectives;
  const some = (known: (row: CollectiveRow) => boolean) => ({ hidden: !rows.some(known) });
  const cells: readonly (readonly [Column, (row: CollectiveRow) => Cell])[] = [
    [column("name", words.name, "string"), (row) => row.name],
    [column("group", words.group, "string", null, { brief: briefGroup }), (row) => row.group],
    [column("link", words.link, "string"), (row) => link[row.link]],
    [column("bytes", words.bytes, "number", "bytes"), (row) => row.bytes],
    [
      column("dtype", words.dtype, "string", null, {
        hidden: new Set(rows.map((row) => row.dtype)).size < 2,
      }),
      (row) => row.dtype || null,
    ],
    [column("ranks", words.ranks, "number", "count"), (row) => row.ranks],
    [column("calls", words.calls, "number", "count"), (row) => row.calls],
    [
      column(
        "matched",
        words.matched,
        "number",
        "count",
        some((row) => row.matched < row.calls),
      ),
      (row) => row.matched,
    ],
    [column("wait_ns", words.wait_ns, "number", "ns"), (row) => row.wait_ns],
    [column("transfer_ns", words.transfer_ns, "number", "ns"), (row) => row.transfer_ns],
    [
      column("algbw", words.algbw, "number", "bytes_per_second", { hidden: true }),
      (row) => row.algbw,
    ],
    [column("busbw", words.busbw, "number", "bytes_per_second"), (row) => row.busbw],
    [
      column("peak_share", words.peak_share, "number", "percent", {
        ...BAR,
        ...some((row) => row.peak_share !== null),
      }),
      (row) => percent(row.peak_share),
    ],
    [column("culprit", words.culprit, "string"), (row) => nameOf(row.culprit, row.culprit_worker)],
    [
      column("culprit_share", words.culprit_share, "number", "percent", BAR),
      (row) => percent(row.culprit_share),
    ],
    [
      column(
        "algorithm",
        words.algorithm,
        "string",
        null,
        some((row) => row.algorithm !== ""),
      ),
      (row) => row.algorithm || null,
    ],
  ];
  return tableOf(
    cells.map(([column, cell]) => ({ column, cell })),
    rows,
  );
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

export function groupsTable({
  groups,
  group_columns: columns,
}: Pick<RanksOverview, "groups" | "group_columns">): Table {
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
      { column: column("which", [text.scatter.which], "string"), cell: fitName },
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
