import { describe, expect, it } from "vitest";
import type { BandwidthFit, CollectiveRow, RunGroup, RunRanks } from "../../api";
import { heatMapOf, overviewOf, ranksOf, slow } from "./cases";
import { curveOf } from "./curve";
import { metricOf } from "./metrics";
import { placesOf } from "./NodeTiles";
import { orderOf } from "./order";
import { collectivesTable, isOf, membersOf, ranksTable } from "./runTables";
import { cost, headline, named, typical } from "./sentence";

describe("the run in one sentence", () => {
  const { tiles } = overviewOf(64);
  const lost = (ns: number | null) => ({ tiles: { ...tiles, lost_ns: ns } });

  it("says that nobody is slow, and of how many", () => {
    expect(headline(overviewOf(64))).toBe(
      "No rank is slow: over 5 steps, none of the 64 ranks is clearly slower than its peers.",
    );
  });

  it("names the rank, its host, the cause and what it costs", () => {
    const answer = overviewOf(64, { stragglers: [slow(37)], ...lost(5_000_000) });
    expect(headline(answer)).toBe(
      "Rank 37 on node4 is slow: the same kernels take longer, 7 ms more than its peers in each step.",
    );
    expect(cost(answer)).toBe("Without this a step would be 5 ms (5.0 %) shorter.");
    const two = overviewOf(64, { stragglers: [slow(37), slow(38)], ...lost(5_000_000) });
    expect(cost(two)).toBe("Without both delays a step would be 5 ms (5.0 %) shorter.");
  });

  it("joins ranks of one cause and tells different ones apart", () => {
    const input = [slow(8, { cause: "input" }), slow(9, { cause: "input" })];
    expect(headline(overviewOf(64, { stragglers: input }))).toMatch(
      /^2 ranks are slow: longer waits/,
    );
    const mixed = [slow(8, { cause: "input" }), slow(9)];
    expect(headline(overviewOf(64, { stragglers: mixed }))).toMatch(/different reasons.*Rank 8/);
  });

  it("does not call a cost that is unknown, nor a saving that is none", () => {
    const stragglers = [slow(3)];
    expect(cost(overviewOf(64, { stragglers, ...lost(null) }))).toBe("");
    expect(cost(overviewOf(64, { stragglers, ...lost(0) }))).toMatch(/no shorter/);
    expect(cost(overviewOf(64))).toBe("");
  });

  it("does not name who is only listed", () => {
    const listed = overviewOf(64, { stragglers: [slow(3, { named: false, doubt: "few_steps" })] });
    expect(named(listed)).toEqual([]);
    expect(headline(listed)).toMatch(/^No rank is slow/);
  });

  it("says who of two makes the other wait", () => {
    const listed = overviewOf(2, { stragglers: [slow(1, { named: false, doubt: "few_peers" })] });
    expect(headline(listed)).toBe(
      "Rank 1 works 7 ms longer in each step, and the other rank waits for it.",
    );
  });

  it("says what one rank cannot tell", () => {
    expect(headline(overviewOf(1))).toMatch(
      /^Only one rank was read, so waiting cannot be measured/,
    );
  });

  it("clears nobody while ranks are read", () => {
    const answer = overviewOf(37);
    const reading = { ...answer, tiles: { ...answer.tiles, expected: 1024, loading: 987 } };
    expect(headline(reading)).toMatch(/^37 ranks have been read so far/);
  });

  it("says that steps to compare are missing", () => {
    const answer = overviewOf(4);
    expect(headline({ ...answer, tiles: { ...answer.tiles, steps: 0 } })).toMatch(/no steps in/);
  });

  it("tells of a slow link where no rank is slow", () => {
    const link = {
      group: "tp (3)",
      ranks: [2, 3],
      hosts: ["node0"],
      pair: [2, 3] as [number, number],
      kind: "all_reduce",
      extra_ns: 1_000_000,
      ratio: 3.02,
      compared: 15,
      z: 20,
    };
    expect(headline(overviewOf(64, { slow_links: [link] }))).toMatch(/tp \(3\) take 3 times/);
  });
});

it("compares with a rank that does the same work, is not slow and stands for most", () => {
  const like = (rank: number, like: number, named = false) => ({
    worker: `rank${rank}`,
    rank,
    like,
    named,
  });
  const answer = overviewOf(8, {
    representatives: [like(0, 3), like(2, 1), like(3, 2), like(4, 2, true), like(5, 2)],
    ranks: ranksOf(8, { peers: [0, 0, 1, 1, 1, 1, 1, 1] }),
  });
  expect(typical(answer, "rank4")?.worker).toBe("rank3");
  expect(typical(answer, "rank3")?.worker).toBe("rank5");
  expect(typical({ ...answer, representatives: [like(4, 8, true)] }, "rank4")).toBeNull();
});

describe("ranks × steps", () => {
  it("come by rank, by node or the largest mean first; what is unknown last", () => {
    const heat = heatMapOf([
      [10, 10, 30],
      [10, 90, 10],
      [null, null, null],
      [20, 20, 20],
    ]);
    const ranks = ranksOf(4, { node: [1, 0, 1, 0] });
    expect(orderOf(ranks, heat, "rank")).toEqual([0, 1, 2, 3]);
    expect(orderOf(ranks, heat, "node")).toEqual([1, 3, 0, 2]);
    expect(orderOf(ranks, heat, "value")).toEqual([1, 3, 0, 2]);
  });

  it("understand links of before", () => {
    expect(metricOf("wait_ns")).toBe("exposed_wait_ns");
    expect(metricOf("duration_ns")).toBe("step_ns");
    expect(metricOf("constructor")).toBeNull();
    expect(metricOf("own_ns")).toBe("own_ns");
    expect(metricOf("nothing")).toBeNull();
  });
});

describe("tables", () => {
  it("hide columns that say the same of all ranks", () => {
    const hidden = (of: ReturnType<typeof ranksTable>) =>
      of.columns.filter((column) => column.hidden).map(({ key }) => key);
    const table = (ranks: RunRanks) => {
      const rank_columns = Object.keys(ranks).map((key) => ({
        key,
        id: "",
        label: key,
        type: "number" as const,
        unit: null,
        help: "",
      }));
      return ranksTable({ ranks, rank_columns });
    };
    expect(hidden(table(ranksOf(8)))).toEqual([
      "rank",
      "host",
      "peers",
      "steps",
      "memory_bytes",
      "collectives",
      "unmatched",
      "named",
    ]);
    expect(hidden(table(ranksOf(16)))).not.toContain("host");
  });

  it("leave unknown waiting empty, never 0", () => {
    const row: CollectiveRow = {
      name: "nccl:all_reduce",
      kind: "all_reduce",
      group: "tp (1)",
      group_number: 1,
      link: "within_node",
      dtype: "bf16",
      bytes: 8,
      ranks: 1,
      size: 8,
      calls: 3,
      matched: 0,
      transfer_ns: null,
      wait_ns: null,
      algbw: null,
      busbw: null,
      algorithm: "",
      peak: null,
      peak_share: null,
      culprit: null,
      culprit_worker: null,
      culprit_share: null,
      worker: "rank0",
      row: null,
    };
    const folds = [row, { ...row, culprit: 7, culprit_share: 0.5 }].map((each) => ({
      row: each,
      count: 1,
    }));
    const columns = ["wait_ns", "culprit", "culprit_share"].map((key) => ({
      key,
      label: key,
      type: "number" as const,
      unit: null,
      help: "",
      id: "",
    }));
    const { rows } = collectivesTable({ columns } as never, folds, []);
    expect(rows).toMatchObject({ wait_ns: [null, null], culprit: [null, "Rank 7"] });
    expect(rows.culprit_share).toEqual([null, 50]);
  });

  it("write members of groups briefly", () => {
    expect(membersOf({ ranks: [0, 1, 2, 3] })).toBe("0–3");
    expect(membersOf({ ranks: [1, 9, 17, 25, 33] })).toBe("1, 9, … 33");
    expect(membersOf({ ranks: [0, 1, 4, 5, 9] })).toBe("0, 1, 4, 5, 9");
    expect(membersOf({ ranks: [] })).toBe("");
  });
});

it("draws a fit as bandwidth over size", () => {
  const point = (bytes: number) => ({ bytes, transfer_ns: 1, busbw: null, calls: 1 });
  const fit: BandwidthFit = {
    kind: "all_reduce",
    role: "tp",
    link: "within_node",
    size: 8,
    groups: 1,
    points: [point(1e3), point(1e9)],
    alpha_ns: 10_000,
    beta: 1e11,
    half_bytes: 1e6,
    residual: 0,
  };
  const groups = [{ role: "dp" }, { role: "tp" }] as unknown as RunGroup[];
  const row = { kind: "all_reduce", link: "within_node", size: 8, bytes: 1e9, group_number: 1 };
  const isHere = (more: object) => isOf({ ...row, ...more } as CollectiveRow, groups, fit, 1e9);
  expect(isHere({})).toBe(true);
  expect([{ bytes: 1e3 }, { group_number: 0 }, { size: 2 }].map(isHere)).toEqual([
    false,
    false,
    false,
  ]);
  const curve = curveOf(fit);
  expect(curve[0]?.y).toBeCloseTo(1e3 / (1e-5 + 1e-8), -3);
  expect(curve.at(-1)?.y).toBeCloseTo(1e9 / (1e-5 + 1e-2), -6);
  expect(curveOf({ ...fit, beta: null })).toEqual([]);
  expect(curveOf({ ...fit, points: [point(5)] })).toEqual([]);
});

describe("ranks by node", () => {
  it("have a row for each node and a place on it, slow ones marked", () => {
    const named = Array.from({ length: 16 }, (_, rank) => rank === 11);
    const places = placesOf(ranksOf(16, { named }), "own_ns");
    expect(places?.rows).toEqual(["node0", "node1"]);
    expect(places?.columns).toBe(8);
    expect(places?.cells.filter(({ marked }) => marked)).toMatchObject([{ row: 1, column: 3 }]);
  });

  it("are not drawn of one rank, and of too many to be seen", () => {
    expect(placesOf(ranksOf(1), "own_ns")).toBeNull();
    expect(placesOf(ranksOf(8 * 65), "own_ns")).toBeNull();
  });
});
