import { describe, expect, it } from "vitest";
import type { Column, ModulesTable } from "../../api";
import { traceMeta } from "../../api/cases";
import { modulePath, rowOfModule } from "../../shell";
import { byClass, distinctNames } from "./classes";
import { hookTable, insideOf, moduleTable } from "./columns";
import {
  chosenMetric,
  hottest,
  hottestClass,
  type Metric,
  metricsOf,
  openAtFirst,
  ownMetric,
  ownValues,
  wholeOf,
} from "./metrics";
import { moduleClass } from "./moduleClass";

const column = (key: string, unit: Column["unit"] = "ns"): Column => ({
  key,
  label: key,
  type: key === "name" ? "string" : "number",
  unit,
  help: "",
  id: "",
});

function answer(rows: ModulesTable["rows"], source: "nn" | "lightning" = "nn"): ModulesTable {
  return {
    meta: {
      ...traceMeta("GPU"),
      source,
      sources: [source],
      total: rows.id?.length ?? 0,
    },
    columns: Object.keys(rows).map((key) => column(key, key.endsWith("_ns") ? "ns" : null)),
    rows,
    hooks: null,
  };
}

const net = answer({
  id: [0, 1, 2, 3],
  parent: [-1, 0, 0, -1],
  name: ["Net_0", "Linear_0", "Linear_1", "Loss"],
  module_id: [0, 0, 1, 4],
  calls: [1, 1, 1, 1],
  host_total_ns: [100, 30, 40, 10],
  host_self_ns: [30, 20, 20, 10],
  device_total_ns: [0, 0, 0, 0],
});

describe("metrics", () => {
  it("are those the trace has", () => {
    expect(metricsOf(net)).toEqual(["device_total_ns", "host_total_ns", "host_self_ns"]);
    expect(chosenMetric("host_self_ns", metricsOf(net))).toBe("host_self_ns");
    expect(chosenMetric("<b>", metricsOf(net))).toBe("device_total_ns");
    expect(chosenMetric("", [])).toBe("host_total_ns");
  });

  it("make boxes as wide as the total of the module", () => {
    expect([...ownValues(net, "host_total_ns")]).toEqual([30, 30, 40, 10]);
    expect([...ownValues(net, "host_self_ns")]).toEqual([30, 20, 20, 10]);
    expect(wholeOf(net, "host_total_ns")).toBe(110);
    expect(wholeOf(net, "host_self_ns")).toBe(80);
  });

  it("count by the self times that totals are made of, where there are any", () => {
    expect(ownMetric("host_total_ns", metricsOf(net))).toBe("host_self_ns");
    expect(ownMetric("device_total_ns", metricsOf(net))).toBe("device_total_ns");
    expect(ownMetric("backward_host_ns", metricsOf(net))).toBe("backward_host_ns");
  });

  it("add up over the modules of a class", () => {
    const layers = answer({
      id: [0, 1, 2, 3],
      parent: [-1, 0, 0, 0],
      name: ["Net_0", "Linear_0", "Linear_1", "Head_0"],
      host_total_ns: [100, 30, 20, 40],
      host_self_ns: [10, 30, 20, 40],
    });
    expect(hottest(layers, "host_total_ns")).toBe(3);
    expect(hottestClass(layers, "host_total_ns")).toEqual({
      name: "Linear",
      count: 2,
      ns: 50,
      row: 1,
    });
    expect(hottestClass(answer({ id: [], parent: [], name: [] }), "host_self_ns")).toBeNull();
  });

  it("open the way to the hottest module at first", () => {
    const deep = answer({
      id: [0, 1, 2, 3, 4, 5],
      parent: [-1, 0, 1, 2, 0, -1],
      name: ["Net_0", "Body_0", "Block_0", "Linear_0", "Head_0", "Loss"],
      device_total_ns: [0, 0, 0, 0, 0, 0],
      host_total_ns: [100, 80, 70, 60, 20, 5],
      host_self_ns: [0, 10, 10, 60, 20, 5],
    });
    expect(hottest(deep, "device_total_ns")).toBe(-1);
    expect(hottest(deep, "host_total_ns")).toBe(3);
    expect([...openAtFirst(deep)].sort()).toEqual([0, 1, 2, 5]);
    const chain = Array.from({ length: 100 }, (_, row) => row);
    const tower = answer({
      id: chain,
      parent: chain.map((row) => row - 1),
      name: chain.map((row) => `Block_${row}`),
      host_total_ns: chain.map(() => 10),
    });
    expect(hottest(tower, "host_total_ns")).toBe(99);
    expect(openAtFirst(tower).size).toBe(17);
  });

  it("never make a box narrower than what is in it", () => {
    const odd = answer({
      id: [0, 1],
      parent: [-1, 0],
      name: ["net", "net.l"],
      host_total_ns: [10, 25],
    });
    expect([...ownValues(odd, "host_total_ns")]).toEqual([0, 25]);
  });
});

describe("paths", () => {
  it("lead to a module and back", () => {
    const paths = ["Net_0", "Net_0/Linear_0", "Net_0/Linear_1", "Loss#4"];
    expect(paths.map((_, row) => modulePath(net, row))).toEqual(paths);
    expect(paths.map((path) => rowOfModule(net, path))).toEqual([0, 1, 2, 3]);
    expect([rowOfModule(net, "Linear_0"), rowOfModule(net, ""), rowOfModule(net, null)]).toEqual([
      -1, -1, -1,
    ]);
  });

  it("are Lightning's own", () => {
    const lightning = answer(
      { id: [0, 1], parent: [-1, 0], name: ["net", "net.0.l1"], module_id: [0, 0] },
      "lightning",
    );
    expect(modulePath(lightning, 1)).toBe("net.0.l1");
    expect(rowOfModule(lightning, "net.0.l1")).toBe(1);
  });

  it("tell classes", () => {
    expect([moduleClass("Conv2d_12"), moduleClass("Loss")]).toEqual(["Conv2d", "Loss"]);
  });
});

describe("tables", () => {
  it("keep the order and the hidden columns of the server, with the share beside the metric", () => {
    const columns = net.columns.map((each) =>
      each.key === "id" ? { ...each, hidden: true } : each,
    );
    const table = moduleTable({ ...net, columns }, "host_total_ns");
    const keys = table.columns.map(({ key }) => key);
    expect(keys[keys.indexOf("host_total_ns") + 1]).toBe("share");
    expect(keys.filter((key) => key !== "share")).toEqual(columns.map(({ key }) => key));
    expect(table.rows.share?.[1]).toBeCloseTo((30 / 110) * 100);
    expect(table.columns.filter(({ hidden }) => hidden).map(({ key }) => key)).toEqual(["id"]);
  });

  it("show a backward pass where there is one, or where it is asked for", () => {
    const shown = (ns: number[], metric: Metric) =>
      moduleTable(
        {
          ...net,
          columns: [...net.columns, column("backward_host_ns")],
          rows: { ...net.rows, backward_host_ns: ns },
        },
        metric,
      ).columns.some(({ key, hidden }) => key === "backward_host_ns" && !hidden);
    expect(shown([0, 5, 0, 0], "host_total_ns")).toBe(true);
    expect(shown([0, 0, 0, 0], "host_total_ns")).toBe(false);
    expect(shown([0, 0, 0, 0], "backward_host_ns")).toBe(true);
  });

  it("list what is directly inside, the largest first", () => {
    const inside = insideOf(net, 0, "host_total_ns");
    expect(inside.rows.name).toEqual(["Linear_1", "Linear_0"]);
    expect(inside.rows.id).toEqual([2, 1]);
  });

  it("share out the time of hooks", () => {
    const hooks = hookTable({
      columns: [column("name", null), column("host_self_ns")],
      rows: { name: ["a", "b"], host_self_ns: [30, 10] },
    });
    expect(hooks.rows.share).toEqual([75, 25]);
  });
});

describe("by class", () => {
  const twoBlocks = answer({
    id: [0, 1, 2, 3, 4, 5, 6],
    parent: [-1, 0, 1, 1, 0, 4, 4],
    name: ["Net_0", "Block_0", "Linear_0", "Linear_1", "Block_1", "Linear_2", "ReLU_0"],
    calls: [1, 1, 1, 1, 1, 1, 1],
    device_total_ns: [100, 60, 30, 20, 40, 25, 5],
    device_self_ns: [0, 10, 30, 20, 10, 25, 5],
  });

  it("puts equal layers together, cut into the classes inside and what they take themselves", () => {
    const groups = byClass(twoBlocks, "device_total_ns", "itself");
    expect(groups.map(({ label, items }) => [label, items])).toEqual([
      [
        "Block ×2",
        [
          { label: "Linear ×3", value: 75 },
          { label: "itself", value: 20 },
          { label: "ReLU", value: 5 },
        ],
      ],
    ]);
    expect(groups[0]?.rows).toEqual([2, 1, 6]);
  });

  it("adds up to the time of all modules", () => {
    const sum = byClass(twoBlocks, "device_self_ns", "itself")
      .flatMap(({ items }) => items)
      .reduce((total, { value }) => total + value, 0);
    expect(sum).toBe(wholeOf(twoBlocks, "device_self_ns"));
  });

  it("labels what names differ in", () => {
    const names = ["LlamaModel_0", "LlamaLayer_0", "LlamaLayer_1", "LlamaMLP_0", "Linear_4"];
    expect(distinctNames(names, [-1, 0, 0, 1, 1])).toEqual([
      ...["Model_0", "0 Layer", "1 Layer", "MLP_0", "Linear_4"],
    ]);
    expect(distinctNames(["ResNet_0", "ResBlock_0"], [-1, 0])).toEqual(["ResNet_0", "ResBlock_0"]);
  });
});
