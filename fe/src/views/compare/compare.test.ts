import { describe, expect, it } from "vitest";
import type { Cell, Column, Compared } from "../../api";
import { kernelsTable, operatorsTable, partsTable } from "./columns";
import {
  briefName,
  byName,
  dividesBySteps,
  partsOf,
  SHOWN,
  sumOf,
  titleOf,
  totalOf,
  UNDIVIDED,
  windowOf,
} from "./parts";

/** Of each key the columns and rows of both sides and the difference, as the server sends them. */
function sides(rows: Record<string, [number[], number[]]>) {
  const columns: Column[] = [];
  const cells: Record<string, Cell[]> = {};
  for (const [key, [before, after]] of Object.entries(rows)) {
    const unit = key.endsWith("_ns") ? "ns" : "count";
    for (const [prefix, label, values] of [
      ["", "Baseline ", before],
      ["exp_", "Experiment ", after],
      ["delta_", "Δ ", after.map((value, i) => value - (before[i] ?? 0))],
    ] as const) {
      columns.push({
        key: prefix + key,
        label: label + key,
        type: "number",
        unit,
        help: "",
        id: "",
      });
      cells[prefix + key] = values;
    }
  }
  return { columns, cells };
}

const NAME: Column = { key: "name", label: "Name", type: "string", unit: null, help: "", id: "" };

function named(names: string[], rows: Record<string, [number[], number[]]>) {
  const { columns, cells } = sides(rows);
  return { columns: [NAME, ...columns], rows: { name: names, ...cells } };
}

const LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
const WORKERS = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

function answer(): Compared {
  const times = sides({
    duration_ns: [
      [10, 6, 10, 0],
      [1, 8, 2, 5],
    ],
    device_ns: [
      [0, 60, 0, 0],
      [0, 60, 0, 50],
    ],
    total_ns: [
      [10, 60, 10, 0],
      [1, 60, 2, 50],
    ],
  });
  return {
    meta: { steps: 2, exp_steps: 4 } as Compared["meta"],
    totals: {} as Compared["totals"],
    parts: {
      columns: times.columns,
      rows: {
        path: ["0-0", "0-1", "0-2", "0-3"],
        name: [LOADER, "Net_0", LOADER, null],
        exp_name: [WORKERS, "Net_0", WORKERS, "Head_0"],
        kind: ["dataloader", "module", "dataloader", "module"],
        has_parts: [false, true, true, false],
        ...times.cells,
      },
    },
    operators: named(["mm", "add", "copy", "view"], {
      calls: [
        [4, 8, 0, 2],
        [8, 16, 4, 2],
      ],
      host_self_ns: [
        [40, 80, 0, 6],
        [80, 160, 8, 60],
      ],
      device_self_ns: [
        [400, 100, 0, 0],
        [800, 400, 40, 0],
      ],
      device_total_ns: [
        [400, 100, 0, 0],
        [800, 400, 40, 0],
      ],
      host_total_ns: [
        [40, 80, 0, 6],
        [80, 160, 8, 60],
      ],
    }),
    kernels: named(["gemm", "old"], {
      calls: [
        [4, 2],
        [4, 0],
      ],
      total_ns: [
        [100, 10],
        [100, 0],
      ],
    }),
  };
}

describe("names of parts", () => {
  it("are what tells them apart", () => {
    expect(briefName(LOADER)).toBe("DataLoader (SingleProcess)");
    expect(briefName("enumerate(DataPipe)#ShufflerIterDataPipe")).toBe(
      "DataPipe (ShufflerIterDataPipe)",
    );
    expect(briefName("Optimizer.step#SGD.step")).toBe("SGD.step");
    expect(briefName("Optimizer.zero_grad#SGD.zero_grad … Cnn_0")).toBe("SGD.zero_grad … Cnn_0");
    expect(briefName("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")).toBe(
      "AccumulateGrad",
    );
    expect(briefName("aten::mm … aten::add")).toBe("aten::mm … aten::add");
  });

  it("are both where the sides differ", () => {
    expect(titleOf({ name: "A", exp_name: "A" })).toBe("A");
    expect(titleOf({ name: "A", exp_name: "B" })).toBe("A → B");
    expect(titleOf({ name: LOADER, exp_name: WORKERS })).toBe(
      "DataLoader (SingleProcess → MultiProcessing)",
    );
    expect(titleOf({ name: null, exp_name: "B" })).toBe("B");
    expect(titleOf({ name: "A", exp_name: null })).toBe("A");
  });
});

describe("parts", () => {
  it("know on which side they are", () => {
    const parts = partsOf(answer(), UNDIVIDED);
    expect(parts.map(({ inBaseline, inExperiment }) => [inBaseline, inExperiment])).toEqual([
      [true, true],
      [true, true],
      [true, true],
      [false, true],
    ]);
    expect(partsOf(answer(), { before: 2, after: 4 })[1]?.values.duration_ns).toEqual({
      before: 3,
      after: 2,
    });
  });

  it("of one name are added up, and cannot be opened together", () => {
    const [loader, net, head] = byName(partsOf(answer(), UNDIVIDED));
    expect(loader).toMatchObject({ path: null, times: 2, hasParts: true });
    expect(loader?.values.total_ns).toEqual({ before: 20, after: 3 });
    expect(net).toMatchObject({ path: "0-1", times: 1 });
    expect(head?.inBaseline).toBe(false);
    expect(sumOf(byName(partsOf(answer(), UNDIVIDED)), "total_ns")).toEqual(
      sumOf(partsOf(answer(), UNDIVIDED), "total_ns"),
    );
  });

  it("add up to everything, per step without work launched before the recording", () => {
    const asked = answer();
    const { rows } = asked.parts;
    const more: Record<string, Cell> = {
      name: null,
      exp_name: "rest",
      path: null,
      has_parts: false,
    };
    for (const kind of ["before", "rest"]) {
      for (const key of Object.keys(rows)) {
        (rows[key] as Cell[]).push(key === "kind" ? kind : key in more ? (more[key] ?? null) : 8);
      }
    }
    asked.totals = { total_ns: 96, exp_total_ns: 129 } as Compared["totals"];
    const all = partsOf(asked, UNDIVIDED);
    expect(all.slice(-2)).toMatchObject([
      { path: null, title: "launched before the recording" },
      { path: null, title: "the rest", times: 1 },
    ]);
    expect(sumOf(all, "total_ns")).toEqual(totalOf(asked, "total_ns", UNDIVIDED));
    const perStep = { before: 2, after: 4 };
    expect(partsOf(asked, perStep).map(({ kind }) => kind)).not.toContain("before");
    expect(sumOf(partsOf(asked, perStep), "total_ns")).toEqual({ before: 44, after: 30.25 });
    expect(totalOf(asked, "total_ns", perStep)).toEqual({ before: 44, after: 30.25 });
  });

  it("come as a table with what became of them", () => {
    const parts = partsOf(answer(), UNDIVIDED);
    const { columns, rows } = partsTable(answer().parts, parts, "total_ns", false);
    expect(rows.status).toEqual(["less", "same", "less", "new"]);
    expect(rows.delta_total_percent).toEqual([-90, 0, -80, null]);
    const shown = columns.filter(({ hidden }) => !hidden).map(({ key }) => key);
    expect(shown).toEqual([
      "part",
      "status",
      "total_ns",
      "exp_total_ns",
      "delta_total_ns",
      "delta_total_percent",
    ]);
    expect(columns.every(({ key }) => rows[key]?.length === 4)).toBe(true);
  });
});

describe("pictures of many parts", () => {
  it("are pages that exist", () => {
    expect(windowOf(3, 1)).toEqual({ first: 0, end: 3 });
    expect(windowOf(SHOWN + 1, 2)).toEqual({ first: SHOWN, end: SHOWN + 1 });
    expect(windowOf(SHOWN, 2)).toEqual({ first: 0, end: SHOWN });
    for (const page of [0, -1, 99, Number.NaN, 1.5])
      expect(windowOf(SHOWN * 2, page).end).toBeGreaterThan(0);
    expect(windowOf(0, 1)).toEqual({ first: 0, end: 0 });
  });
});

describe("sums", () => {
  it("are per step when asked for, or when the numbers of steps differ", () => {
    expect(dividesBySteps(null, 6, 6)).toBe(false);
    expect(dividesBySteps(null, 6, 4)).toBe(true);
    expect(dividesBySteps("all", 6, 4)).toBe(false);
    expect(dividesBySteps("step", 6, 6)).toBe(true);
    expect(dividesBySteps("step", 0, 6)).toBe(false);
  });
});

describe("tables", () => {
  it("of operators come by the change on the device, then on the host", () => {
    const { rows } = operatorsTable(answer(), UNDIVIDED);
    expect(rows.name).toEqual(["mm", "add", "copy", "view"]);
    expect(rows.delta_device_self_ns).toEqual([400, 300, 40, 0]);
    expect(rows.delta_device_self_percent).toEqual([100, 300, null, null]);
    expect(rows.status).toEqual(["more", "more", "new", "same"]);
  });

  it("are ordered and judged anew per step", () => {
    const { rows } = operatorsTable(answer(), { before: 2, after: 4 });
    expect(rows.name).toEqual(["add", "copy", "view", "mm"]);
    expect(rows.delta_device_self_ns).toEqual([50, 10, 0, 0]);
    expect(rows.status).toEqual(["more", "new", "same", "same"]);
    expect(rows.calls).toEqual([4, 0, 1, 2]);
  });

  it("leave the device out where nothing ran on one", () => {
    const cpu = answer();
    for (const key of ["device_self_ns", "device_total_ns"])
      for (const prefix of ["", "exp_", "delta_"]) cpu.operators.rows[prefix + key] = [0, 0, 0, 0];
    const { columns, rows } = operatorsTable(cpu, UNDIVIDED);
    expect(columns.some(({ key }) => key.includes("device"))).toBe(false);
    expect(rows.name).toEqual(["add", "view", "mm", "copy"]);
    const shown = columns.filter(({ hidden }) => !hidden).map(({ key }) => key);
    expect(shown).toContain("delta_host_self_percent");
    expect(shown).not.toContain("delta_host_total_ns");
  });

  it("of kernels say what is gone", () => {
    const { columns, rows } = kernelsTable(answer(), UNDIVIDED);
    expect(rows.name).toEqual(["old", "gemm"]);
    expect(rows.status).toEqual(["gone", "same"]);
    expect(rows.delta_total_percent).toEqual([-100, 0]);
    expect(columns.find(({ key }) => key === "delta_total_ns")?.change).toBe("cost");
    expect(columns.find(({ key }) => key === "delta_calls")?.change).toBe("plain");
  });
});
