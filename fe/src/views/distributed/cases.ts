/** Answers about many ranks, for tests. */
import type { HeatMap, RanksOverview, RunRanks, Straggler } from "../../api";

const MS = 1_000_000;

export function ranksOf(count: number, more: Partial<RunRanks> = {}): RunRanks {
  const each = <T>(of: (rank: number) => T) => Array.from({ length: count }, (_, rank) => of(rank));
  return {
    worker: each((rank) => `rank${rank}`),
    rank: each((rank) => rank),
    host: each((rank) => `node${Math.floor(rank / 8)}`),
    node: each((rank) => Math.floor(rank / 8)),
    device: each(() => "H100"),
    peers: each(() => 0),
    steps: each(() => 5),
    step_ns: each(() => 100 * MS),
    compute_ns: each(() => 60 * MS),
    exposed_wait_ns: each(() => 10 * MS),
    exposed_transfer_ns: each(() => 5 * MS),
    hidden_ns: each(() => 5 * MS),
    own_ns: each(() => 70 * MS),
    late_ns: each(() => 0),
    z: each(() => 0),
    input_ns: each(() => MS),
    host_ns: each(() => 20 * MS),
    memory_bytes: each(() => null),
    collectives: each(() => 40),
    unmatched: each(() => 0),
    named: each(() => false),
    ...more,
  };
}

export function slow(rank: number, more: Partial<Straggler> = {}): Straggler {
  return {
    worker: `rank${rank}`,
    rank,
    host: `node${Math.floor(rank / 8)}`,
    late_ns: 7 * MS,
    z: 30,
    cause: "slow_compute",
    operator: null,
    operator_ns: null,
    position: null,
    saving_ns: 5 * MS,
    steps: 5,
    of_steps: 5,
    peers: 63,
    named: true,
    doubt: "",
    ...more,
  };
}

export function overviewOf(count: number, more: Partial<RanksOverview> = {}): RanksOverview {
  return {
    tiles: {
      present: count,
      expected: count,
      loading: 0,
      failed: 0,
      steps: 5,
      step_ns: 100 * MS,
      exposed_wait_ns: 10 * MS,
      exposed_transfer_ns: 5 * MS,
      hidden_ns: 5 * MS,
      slowest_worker: null,
      slowest_rank: null,
      slowest_cause: null,
      lost_ns: 0,
    },
    stragglers: [],
    slow_links: [],
    representatives: [],
    ranks: ranksOf(count),
    steps: ["1", "2", "3", "4", "5"],
    metrics: ["step_ns"],
    groups: [],
    layout: { world: count, nodes: 1, ranks_per_node: 8, dimensions: [], confidence: "high" },
    matched: { matched: 100, unmatched: 0 },
    missing: [],
    pipeline: null,
    moe: [],
    fsdp: [],
    fits: [],
    rank_columns: [],
    group_columns: [],
    moe_columns: [],
    fsdp_columns: [],
    fit_columns: [],
    confidence: "high",
    notes: [],
    ...more,
  };
}

export function heatMapOf(
  values: readonly (readonly (number | null)[])[],
  more: Partial<HeatMap> = {},
): HeatMap {
  return {
    metric: "step_ns",
    unit: "ns",
    ranks: values.length,
    steps: values[0]?.length ?? 0,
    values: values.flat(),
    middle: null,
    spread: null,
    outliers: [],
    ...more,
  };
}
