import { describe, expect, it } from "vitest";
import { type Distributed, type RankWorker, type Status, stateOfSpan } from "../../api";
import { rangesOf } from "../../format";
import { groupsOf, numbersOf, rankRows, stepNames, waitParts } from "./ranks";
import { deviceTable, operationTable } from "./tables";

interface Spent {
  computation?: number;
  overlap?: number;
  communication?: number;
  other?: number;
  transfer?: number;
  wait?: number | null;
  unmatched?: number;
}

function worker(
  rank: number,
  steps: Record<string, Spent>,
  more: Partial<RankWorker> = {},
): RankWorker {
  const of = Object.values(steps);
  const column = (key: Exclude<keyof Spent, "wait">) => of.map((step) => step[key] ?? 0);
  return {
    worker: `rank${rank}`,
    rank,
    world_size: 4,
    node: `node${Math.floor(rank / 8)}`,
    process: String(rank),
    backend: "nccl",
    devices: [
      { id: rank % 8, name: "H100", memory_bytes: 80 * 2 ** 30, compute_capability: "9.0" },
    ],
    steps: {
      names: Object.keys(steps),
      duration_ns: of.map(
        ({ computation = 0, overlap = 0, communication = 0, other = 0 }) =>
          computation + overlap + communication + other,
      ),
      computation_ns: column("computation"),
      overlap_ns: column("overlap"),
      communication_only_ns: column("communication"),
      exposed_communication_ns: column("communication"),
      other_ns: column("other"),
      transfer_ns: of.map(({ transfer = 0, wait = 0 }) => (wait === null ? null : transfer)),
      wait_ns: of.map(({ wait = 0 }) => wait),
      unmatched_ns: column("unmatched"),
      outside: { transfer_ns: 0, wait_ns: 0, unmatched_ns: 0 },
    },
    ...more,
  };
}

describe("numbers of a rank", () => {
  const one = worker(0, { 5: { computation: 100, wait: 4 }, 6: { computation: 200, wait: 8 } });

  it("are those of a step, or the mean over its own steps", () => {
    expect(numbersOf(one.steps, "6")).toMatchObject({ duration_ns: 200, wait_ns: 8 });
    expect(numbersOf(one.steps, null)).toMatchObject({ duration_ns: 150, wait_ns: 6 });
    expect(numbersOf(one.steps, "7")).toBeNull();
    expect(numbersOf(worker(1, {}).steps, null)).toBeNull();
  });

  it("match steps by name, in natural order", () => {
    expect(stepNames([worker(0, { 10: {}, 9: {} }), worker(1, { 9: {}, 100: {} })])).toEqual([
      "9",
      "10",
      "100",
    ]);
  });

  it("go by rank where every trace says one, else by worker", () => {
    expect(rankRows([worker(3, {}), worker(1, {})], null).map(({ name }) => name)).toEqual([
      "3",
      "1",
    ]);
    const unknown = worker(1, {}, { rank: null, worker: "host_1" });
    expect(rankRows([worker(3, {}), unknown], null).map(({ name }) => name)).toEqual([
      "rank3",
      "host_1",
    ]);
    const twice = worker(3, {}, { worker: "again" });
    expect(rankRows([worker(3, {}), twice], null).map(({ name }) => name)).toEqual([
      "rank3",
      "again",
    ]);
  });
});

describe("numbers of ranks", () => {
  it("are joined to neighbours", () => {
    expect(rangesOf([7, 0, 1, 2, 3, 3, 9, 10])).toBe("0–3, 7, 9, 10");
    expect(rangesOf([])).toBe("");
  });
});

describe("operations that no other rank has", () => {
  const alone: Spent = { communication: 60, wait: null, unmatched: 60 };
  const half: Spent = { communication: 60, wait: 20, transfer: 20, unmatched: 20 };

  it("leave waiting unknown, never 0", () => {
    const rows = rankRows([worker(0, { 1: alone })], null);
    expect(rows[0]?.numbers).toMatchObject({ wait_ns: null, transfer_ns: null, unmatched_ns: 60 });
    const mixed = rankRows([worker(0, { 1: alone, 2: half })], null)[0]?.numbers;
    expect(mixed).toMatchObject({ wait_ns: 20, transfer_ns: 20, unmatched_ns: 40 });
  });

  it("are in the chart and the table where there are any", () => {
    expect(waitParts(rankRows([worker(0, { 1: half })], null))).toContain("unmatched_ns");
    const none = waitParts(rankRows([worker(0, { 1: { wait: 1, transfer: 1 } })], null));
    expect(none).toEqual(["transfer_ns", "wait_ns"]);
  });
});

const RANKS = 1024;
const SLOW = 777;

/** What a run of 1,024 ranks answers: each with 20 steps and 3 kinds of operations in 2 groups. */
function large(): Distributed {
  const steps = Array.from({ length: 20 }, (_, step) => String(step + 5));
  const workers = Array.from({ length: RANKS }, (_, rank) =>
    worker(
      rank,
      Object.fromEntries(
        steps.map((name) => [
          name,
          rank === SLOW
            ? { computation: 190, communication: 10, transfer: 10 }
            : {
                computation: 100 + (rank % 3),
                communication: 100 - (rank % 3),
                transfer: 10,
                wait: 90,
              },
        ]),
      ),
      { world_size: RANKS },
    ),
  );
  const operations = workers.flatMap(({ worker: name }) =>
    ["all_reduce", "all_gather", "reduce_scatter"].map((kind, k) => ({
      name: `nccl:${kind}`,
      worker: name,
      kind,
      group: k === 0 ? "default_pg (0)" : "tensor (1)",
      calls: 20,
      latency_ns: 2000 + k,
      wait_ns: 500,
      busbw: k === 2 ? null : 3e11,
    })),
  );
  const keys = Object.keys(operations[0] as object) as (keyof (typeof operations)[number])[];
  return {
    meta: { run: "large", span: "1", notes: [] },
    workers,
    groups: [
      {
        name: "0",
        description: "default_pg",
        ranks: workers.map((_, rank) => rank),
        size: RANKS,
        present: RANKS,
      },
      ...Array.from({ length: RANKS / 8 }, (_, i) => ({
        name: String(i + 1),
        description: "tensor",
        ranks: Array.from({ length: 8 }, (_, j) => i * 8 + j),
        size: 8,
        present: 8,
      })),
    ],
    definitions: [
      {
        key: "computation_ns",
        label: "Computation",
        type: "number",
        unit: "ns",
        help: "as the server says",
        id: "",
      },
    ],
    operations: {
      columns: keys.map((key) => ({
        key,
        label: key,
        type: typeof operations[0]?.[key] === "string" ? "string" : "number",
        unit: key === "busbw" ? "bytes_per_second" : null,
        help: "",
        id: "",
      })),
      rows: Object.fromEntries(keys.map((key) => [key, operations.map((row) => row[key])])),
    },
  };
}

describe("1,024 ranks", () => {
  const answer = large();
  it("have their devices and groups", () => {
    const { rows: cells } = deviceTable(answer);
    expect(cells.device).toHaveLength(RANKS);
    expect(cells.groups?.[9]).toBe("default_pg (0), tensor (2)");
    expect(groupsOf(answer.groups, null)).toEqual([]);
  });

  it("have operations by worker and group", () => {
    const all = operationTable(answer.operations, null, null);
    expect(all.rows.name).toHaveLength(RANKS * 3);
    expect(all.columns.map(({ key }) => key)).toContain("worker");
    const one = operationTable(answer.operations, "rank777", "tensor (1)");
    expect(one.rows.name).toEqual(["nccl:all_gather", "nccl:reduce_scatter"]);
    expect(one.rows.busbw).toEqual([3e11, null]);
    expect(one.columns.map(({ key }) => key)).not.toContain("worker");
    expect(one.rows.wait_percent?.[0]).toBeCloseTo((500 / 2001) * 100);
    expect(operationTable(answer.operations, "rank5000", null).rows.name).toEqual([]);
  });
});

describe("operations of one name", () => {
  const rows = (dtypes: string[]) => ({
    columns: ["name", "group", "dtype"].map((key) => ({
      key,
      label: key,
      type: "string" as const,
      unit: null,
    })),
    rows: { name: dtypes.map(() => "nccl:all_to_all"), group: dtypes.map(() => ""), dtype: dtypes },
  });
  const hidden = (dtypes: string[]) =>
    operationTable(rows(dtypes) as unknown as Distributed["operations"], null, null).columns.find(
      ({ key }) => key === "dtype",
    )?.hidden;

  it("show the type of their elements where nothing else tells them apart", () => {
    expect(hidden(["float", "int"])).toBe(false);
    expect(hidden(["float"])).toBe(true);
  });
});

it("says where a device is unknown, and a rank without any still has a row", () => {
  const answer = { ...large(), workers: [worker(0, {}, { devices: [] })], groups: [] };
  expect(deviceTable(answer).rows).toMatchObject({
    worker: ["rank0"],
    device: [null],
    groups: [null],
  });
});

it("asks again when a trace of the span has been read", () => {
  const status = (state: string) =>
    ({
      runs: [
        {
          name: "run",
          traces: [
            { span: "1", file: "a", size: 1, state: "ready" },
            { span: "1", file: "b", size: 1, state },
            { span: "2", file: "c", size: 1, state: "loading" },
          ],
        },
      ],
    }) as unknown as Status;
  const key = (state: string) => stateOfSpan(status(state), "run", "1");
  expect(key("loading")).not.toBe(key("ready"));
  expect(key("ready")).not.toContain("c");
  expect(stateOfSpan(undefined, "run", "1")).toBe("");
});
