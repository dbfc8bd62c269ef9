import { describe, expect, it } from "vitest";
import {
  CHANGES,
  type Change,
  type ChangeKind,
  findChange,
  formatChange,
  KINDS,
  type KindId,
  MOST_CHANGES,
  withChange,
  withoutChange,
} from "./changes";

const DATA: Change = { kind: "data", name: null, factor: 0 };
const KERNEL: Change = { kind: "kernels", name: "void f<1, 2>(a.b:c)", factor: 0.5 };
const SYNC: Change = { kind: "sync", name: null, factor: null };

describe("changes in the address", () => {
  it("are what the server reads", () => {
    expect(CHANGES.format([DATA, KERNEL, SYNC])).toBe(
      "data:0,kernels.void f<1%2C 2>(a.b:c):0.5,sync",
    );
    expect(CHANGES.parse("operator.aten%3A%3Amm:0.80")).toEqual([
      { kind: "operator", name: "aten::mm", factor: 0.8 },
    ]);
  });

  it("come back as they were written", () => {
    const names = ["aten::mm", "100 %", "a,b", ".", ":1", "中文", "a%2Cb", " "];
    const changes = (Object.entries(KINDS) as [KindId, ChangeKind][]).flatMap(
      ([kind, { naming, scales }]): Change[] => {
        const factor = scales ? 1.25 : null;
        return [
          ...(naming === "required" ? [] : [{ kind, name: null, factor }]),
          ...(naming === "none" ? [] : names.map((name) => ({ kind, name, factor }))),
        ];
      },
    );
    for (const change of changes) expect(CHANGES.parse(formatChange(change))).toEqual([change]);
  });

  it.each([
    "speed:0",
    "data",
    "data:",
    "data:-1",
    "data:1e3",
    "data:101",
    "data.x:0",
    "operator:0.5",
    "operator.:0.5",
    "operator.%:0.5",
    "operator.%ff:0.5",
    "sync:0",
    "queue.x",
    "toString",
    "__proto__:1",
  ])("leave out what means nothing: %s", (text) => {
    expect(CHANGES.parse(text)).toEqual([]);
    expect(CHANGES.parse(`${text},data:0`)).toEqual([DATA]);
  });

  it("are about each thing once, and not without end", () => {
    expect(CHANGES.parse("data:0,data:0.5")).toEqual([DATA]);
    const many = Array.from({ length: 99 }, (_, at) => `operator.o${at}:0.5`).join(",");
    expect(CHANGES.parse(many)).toHaveLength(MOST_CHANGES);
    expect(CHANGES.parse("x".repeat(5_000))).toEqual([]);
  });

  it("are replaced in place, added at the end, and taken out", () => {
    const half = { ...DATA, factor: 0.5 };
    expect(withChange([DATA, SYNC], half)).toEqual([half, SYNC]);
    expect(withChange([SYNC], DATA)).toEqual([SYNC, DATA]);
    expect(withoutChange([DATA, SYNC], { kind: "data", name: null })).toEqual([SYNC]);
    expect(findChange([KERNEL], { kind: "kernels", name: null })).toBeNull();
    expect(findChange([KERNEL], KERNEL)).toBe(KERNEL);
  });
});
