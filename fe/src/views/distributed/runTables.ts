/** The tables of the run page, made of its answers. Pure. */
import type {
  BandwidthFit,
  CollectiveRow,
  FsdpGathers,
  MoeImbalance,
  RunGroup,
  RunRanks,
} from "../../api";
import type { Unit } from "../../format";
import { ranksTexts as text } from "../../i18n";
import type { Cell, Column, Table } from "../../table";
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

function tableOf<R>(
  rows: readonly R[],
  columns: readonly (readonly [Column, (row: R) => Cell])[],
): Table {
  return {
    columns: columns.map(([declared]) => declared),
    rows: Object.fromEntries(columns.map(([{ key }, cell]) => [key, rows.map(cell)])),
  };
}

/** Fractions as percents, which are drawn as bars. */
const percent = (share: number | null): Cell => (share === null ? null : share * 100);
const BAR = { bar: true } as const;

export function ranksTable(ranks: RunRanks): Table {
  const words = text.table.columns;
  const ns = (key: keyof typeof words) => column(key, words[key], "number", "ns");
  const only = (values: readonly unknown[]) => ({ hidden: new Set(values).size < 2 });
  const columns: Column[] = [
    column("worker", words.worker, "string"),
    column("rank", words.rank, "number", null, {
      hidden: ranks.worker.every((worker, at) => worker === `rank${ranks.rank[at]}`),
    }),
    column("host", words.host, "string", null, only(ranks.host)),
    column("device", words.device, "string", null, { hidden: true }),
    column("peers", words.peers, "number", null, only(ranks.peers)),
    column("steps", words.steps, "number", "count", only(ranks.steps)),
    ns("step_ns"),
    ns("compute_ns"),
    ns("exposed_wait_ns"),
    ns("exposed_transfer_ns"),
    ns("hidden_ns"),
    ns("own_ns"),
    ns("late_ns"),
    column("z", words.z, "number"),
    ns("input_ns"),
    ns("host_ns"),
    column("memory_bytes", words.memory_bytes, "number", "bytes", only(ranks.memory_bytes)),
    column("collectives", words.collectives, "number", "count", only(ranks.collectives)),
    column("unmatched", words.unmatched, "number", "count", only(ranks.unmatched)),
    column("named", words.named, "bool", null, only(ranks.named)),
  ];
  return {
    columns,
    rows: Object.fromEntries(
      columns.map(({ key }) => [key, ranks[key as keyof RunRanks] as readonly Cell[]]),
    ),
  };
}

export function collectivesTable(rows: readonly CollectiveRow[]): Table {
  const { columns: words, link } = text.collectives;
  const some = (known: (row: CollectiveRow) => boolean) => ({ hidden: !rows.some(known) });
  return tableOf(rows, [
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
  ]);
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

export function groupsTable(groups: readonly RunGroup[]): Table {
  const { columns: words, roles } = text.layout;
  const links = text.collectives.link;
  return tableOf(groups, [
    [column("label", words.label, "string"), (group) => group.label],
    [column("role", words.role, "string"), (group) => roles[group.role]],
    [column("size", words.size, "number", "count"), (group) => group.size],
    [column("present", words.present, "number", "count"), (group) => group.present],
    [column("ranks", words.ranks, "string"), (group) => membersOf(group)],
    [column("link", words.link, "string"), (group) => links[group.link]],
    [column("calls", words.calls, "number", "count"), (group) => group.calls],
    [
      column("transfer_ns", words.transfer_ns, "number", "ns"),
      (group) => timeOf(group, group.transfer_ns),
    ],
    [column("wait_ns", words.wait_ns, "number", "ns"), (group) => timeOf(group, group.wait_ns)],
  ]);
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

export function fitsTable(fits: readonly BandwidthFit[]): Table {
  const words = text.scatter;
  return tableOf(fits, [
    [column("which", [words.which], "string"), fitName],
    [column("groups", [words.groups, words.groupsHelp], "number", "count"), (fit) => fit.groups],
    [
      column("sizes", [words.sizes, words.sizesHelp], "number", "count"),
      (fit) => fit.points.length,
    ],
    [column("alpha", [words.alpha, words.alphaHelp], "number", "ns"), (fit) => fit.alpha_ns],
    [column("beta", [words.beta, words.betaHelp], "number", "bytes_per_second"), (fit) => fit.beta],
    [column("half", [words.half, words.halfHelp], "number", "bytes"), (fit) => fit.half_bytes],
    [
      column("residual", [words.residual, words.residualHelp], "number", "percent"),
      (fit) => percent(fit.residual),
    ],
  ]);
}

export function fitName({ kind, role, size, link }: BandwidthFit): string {
  return text.scatter.series(
    kind,
    text.layout.roles[role].toLowerCase(),
    String(size),
    link === "unknown" ? "" : text.collectives.link[link],
  );
}

export function moeTable(rows: readonly MoeImbalance[]): Table {
  const { columns: words } = text.moe;
  return tableOf(rows, [
    [column("group", words.group, "string"), (row) => row.group],
    [column("calls", words.calls, "number", "count"), (row) => row.calls],
    [column("worst", words.worst, "number"), (row) => row.worst],
    [column("mean_bytes", words.mean_bytes, "number", "bytes"), (row) => row.mean_bytes],
    [column("rank", words.rank, "string"), (row) => nameOf(row.rank, null)],
    [
      column("rank_share", words.rank_share, "number", "percent", BAR),
      (row) => percent(row.rank_share),
    ],
    [column("rank_bytes", words.rank_bytes, "number", "bytes"), (row) => row.rank_bytes],
  ]);
}

export function fsdpTable(rows: readonly FsdpGathers[]): Table {
  const { columns: words, yes, no } = text.fsdp;
  const said = (answer: boolean | null) => (answer === null ? null : answer ? yes : no);
  return tableOf(rows, [
    [column("group", words.group, "string"), (row) => row.group],
    [column("gathers", words.gathers, "number", "count"), (row) => row.gathers],
    [column("scatters", words.scatters, "number", "count"), (row) => row.scatters],
    [column("reshards", words.reshards, "string"), (row) => said(row.reshards)],
    [column("lead_ns", words.lead_ns, "number", "ns"), (row) => row.lead_ns],
    [
      column("late_share", words.late_share, "number", "percent", BAR),
      (row) => percent(row.late_share),
    ],
  ]);
}
