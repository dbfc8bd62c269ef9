import { describe, expect, it } from "vitest";
import type { OperatorsTable } from "../../api";
import { traceMeta } from "../../api/cases";
import { operatorTable } from "./columns";
import { parseFrame, parseStack, placeOf } from "./frames";
import { chosenMetric, metricsOf, wholeOf } from "./metrics";

describe("frames", () => {
  it("finds file, line and function", () => {
    expect(parseFrame("torch/nn/modules/conv.py(447): _conv_forward")).toMatchObject({
      file: "torch/nn/modules/conv.py",
      line: 447,
      func: "_conv_forward",
    });
    expect(parseFrame("C:\\a (b)\\c.py(3): <module>")).toMatchObject({
      file: "C:\\a (b)\\c.py",
      line: 3,
    });
  });

  it("leaves other texts as they are", () => {
    const frame = parseFrame("<built-in method conv2d>");
    expect(frame).toMatchObject({ file: null, line: null, func: "<built-in method conv2d>" });
    expect(placeOf(frame)).toBe("<built-in method conv2d>");
  });

  it("splits a stack", () => {
    expect(parseStack("a.py(1): f\n\n b.py(2): g ").map(placeOf)).toEqual(["a.py:1", "b.py:2"]);
    expect(parseStack("")).toEqual([]);
  });
});

const table: OperatorsTable = {
  meta: {
    ...traceMeta("CPU"),
    total: 2,
    matched: 2,
    offset: 0,
    unattributed: [],
    unattributed_columns: [],
    group_by: "name",
    device_ns: null,
    host_ns: 400,
    unattributed_device_ns: null,
    unlinked_backward: null,
    device_busy: null,
  },
  columns: [
    { key: "name", label: "Name", type: "string", unit: null, help: "", id: "" },
    { key: "calls", label: "Calls", type: "number", unit: "count", help: "", id: "" },
    {
      key: "host_self_ns",
      label: "Host self",
      type: "number",
      unit: "ns",
      help: "",
      id: "",
      total: 400,
    },
    {
      key: "host_total_ns",
      label: "Host total",
      type: "number",
      unit: "ns",
      help: "",
      id: "",
      average: true,
    },
  ],
  rows: { name: ["a", "b"], calls: [2, 1], host_self_ns: [100, 300], host_total_ns: [400, 300] },
};

describe("metrics", () => {
  it("are those the trace has", () => {
    expect(metricsOf(table)).toEqual(["host_self", "host_total"]);
    expect(chosenMetric("device_self", metricsOf(table))).toBe("host_self");
    expect(chosenMetric("host_total", metricsOf(table))).toBe("host_total");
  });

  it("have a whole where they do not overlap", () => {
    expect(wholeOf(table, "host_self")).toBe(400);
    expect(wholeOf(table, "host_total")).toBeNull();
  });
});

it("adds shares and averages where their sources are", () => {
  const { columns, rows } = operatorTable(table);
  expect(columns.map(({ key }) => key)).toEqual([
    "name",
    "calls",
    "host_self_ns",
    "host_self_share",
    "host_total_ns",
    "host_total_per_call_ns",
  ]);
  expect(rows.host_self_share).toEqual([25, 75]);
  expect(rows.host_total_per_call_ns).toEqual([200, 300]);
});

describe("when no device worked", () => {
  const ns = (key: string) =>
    ({ key, label: key, type: "number", unit: "ns", help: "", id: "" }) as const;
  const of = (busy: number | null) => ({
    ...table,
    meta: { ...table.meta, device_busy: busy, device_ns: 50 },
    columns: [
      ...table.columns.slice(0, 2),
      ns("device_self_ns"),
      ns("host_self_ns"),
      ns("host_total_ns"),
      ns("api_self_ns"),
    ],
    rows: { ...table.rows, device_self_ns: [40, 10], api_self_ns: [300, 0] },
  });
  const keys = (busy: number | null) =>
    operatorTable(of(busy))
      .columns.map(({ key }) => key)
      .filter((key) => key.endsWith("_ns") && !key.endsWith("per_call_ns"));

  it("the host comes first", () => {
    expect(keys(0)).toEqual(["host_self_ns", "host_total_ns", "api_self_ns", "device_self_ns"]);
    expect(metricsOf(of(0))).toEqual(["host_self", "host_total", "api_self", "device_self"]);
  });

  it("and else the device", () => {
    for (const busy of [0.1, null]) {
      expect(keys(busy)).toEqual([
        "device_self_ns",
        "host_self_ns",
        "host_total_ns",
        "api_self_ns",
      ]);
      expect(metricsOf(of(busy))[0]).toBe("device_self");
    }
  });
});
