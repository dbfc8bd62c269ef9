import { describe, expect, it } from "vitest";
import { equals } from "../format";
import { foundAtOnce } from "./cases";
import { exampleFor, filterRows, parseFilter } from "./filter";
import type { Column, Rows } from "./model";

const columns: Column[] = [
  { key: "name", label: "Name", type: "string", unit: null },
  { key: "operator", label: "Operator", type: "string", unit: null },
  { key: "calls", label: "Calls", type: "number", unit: "count" },
  { key: "device_self_ns", label: "Device self", type: "number", unit: "ns" },
  { key: "shared_memory_bytes", label: "Shared memory", type: "number", unit: "bytes" },
  { key: "device_share", label: "% device self", type: "number", unit: "percent" },
  { key: "tensor_cores_used", label: "Tensor cores used", type: "bool", unit: null },
];

const rows: Rows = {
  name: ["aten::conv2d", "aten::mm", "void gemm<float, 4>", "Memset (Device)"],
  operator: ["aten::conv2d", null, "aten::mm", ""],
  calls: [5, 20, 11, Number.NaN],
  device_self_ns: [6_000_000, 4_000_000, 1000, null],
  shared_memory_bytes: [0, 2048, 49152, 1024],
  device_share: [50, 40, 0.1, null],
  tensor_cores_used: [true, false, null, undefined],
};

function kept(text: string): number[] | string {
  const result = parseFilter(text, columns, "name");
  return result.ok ? filterRows(rows, 4, foundAtOnce(result, rows)) : result.problem.kind;
}

describe("parseFilter", () => {
  it.each<[string, number[] | string]>([
    ["", [0, 1, 2, 3]],
    ["   ", [0, 1, 2, 3]],
    ["CONV", [0]],
    ["aten mm", [1]],
    ['"Memset (D"', [3]],
    ["name~^aten::", [0, 1]],
    ["NAME~conv|mm", [0, 1, 2]],
    ['name~"void gemm<"', [2]],
    ["calls>10", [1, 2]],
    ["calls>=11 calls<20", [2]],
    ["calls=5", [0]],
    ["calls==5", [0]],
    ["calls!=5", [1, 2]],
    ["calls<0.02k", [0, 2]],
    ["device_self>5ms", [0]],
    ["device_self_ns>=4ms", [0, 1]],
    ["device_self<=1us", [2]],
    ["device_self<=1µs", [2]],
    ["device_self>0.001s", [0, 1]],
    ["shared_memory>1KB", [1, 2]],
    ["shared_memory>1KiB", [1, 2]],
    ["shared_memory>=48kb", [2]],
    ["device_share>=40%", [0, 1]],
    ["tensor_cores_used=yes", [0]],
    ["tensor_cores_used=unknown", [2, 3]],
    ["tensor_cores_used!=yes", [1, 2, 3]],
    ['operator="aten::mm"', [2]],
    ["operator!=aten::mm", [0, 1, 3]],
    ["aten calls>10", [1]],
    ["gemm<float", [2]],
    ['"calls>10"', []],
    ["nothing", []],
  ])("%s keeps %j", (text, expected) => expect(kept(text)).toEqual(expected));

  it.each([
    ["name~(", "bad_regex"],
    ["cals>10", "unknown_column"],
    ["calls>ten", "bad_number"],
    ["calls>", "bad_number"],
    ["calls>5ms", "bad_unit"],
    ["device_self>5MB", "bad_unit"],
    ["device_self>5MiB", "bad_unit"],
    ["name>x", "bad_operator"],
    ["tensor_cores_used=maybe", "bad_operator"],
    ['"open', "open_quote"],
  ])("%s is refused: %s", (text, kind) => expect(kept(text)).toBe(kind));

  it("quotes any text so that it is found again", () => {
    const nasty = 'a "quoted" \\ name > 5';
    const result = parseFilter(equals("name", nasty), columns, "name");
    const rows = { name: [nasty, "a"] };
    expect(result.ok && filterRows(rows, 2, foundAtOnce(result, rows))).toEqual([0]);
  });
});

it("finds what has a word of its own by its value and by that word", () => {
  const status: Column = {
    key: "status",
    label: "变化",
    type: "string",
    unit: null,
    words: { gone: "消失", new: "新增" },
  };
  const rows = { status: ["gone", "new", "gone"] };
  for (const [text, kept] of [
    ["status=gone", [0, 2]],
    ["status=消失", [0, 2]],
    ["status!=消失", [1]],
    ["status~^新", [1]],
    ["status~^n", [1]],
  ] as const) {
    const result = parseFilter(text, [status], "status");
    expect(result.ok && filterRows(rows, 3, foundAtOnce(result, rows))).toEqual(kept);
  }
});

describe("exampleFor", () => {
  const only = (...keys: string[]) => columns.filter(({ key }) => keys.includes(key));

  it.each([
    [columns, "conv calls>10"],
    [only("name", "device_self_ns"), "conv device_self>1ms"],
    [only("name", "shared_memory_bytes"), "conv shared_memory>1MiB"],
    [only("device_share"), "device_share>10%"],
    [only("name"), "conv relu"],
  ])("is a filter of the table", (of, example) => {
    expect(exampleFor(of)).toBe(example);
    expect(parseFilter(example, of, "name").ok).toBe(true);
  });
});
