import { describe, expect, it } from "vitest";
import type { StackKind, StackRows, StacksTable } from "../../api";
import { traceMeta } from "../../api/cases";
import { entriesOf, kindsOf, labelOf } from "./looks";
import { isFolded, largestOwn, modulePath, ownValues, stackTable, withAbove } from "./rows";

function rows(
  ...entries: [number, number, string, StackKind, number, number, number?][]
): StackRows {
  return {
    id: entries.map((e) => e[0]),
    parent: entries.map((e) => e[1]),
    name: entries.map((e) => e[2]),
    kind: entries.map((e) => e[3]),
    role: entries.map((e) => (e[3] === "device" ? "compute" : null)),
    short_name: entries.map(() => null),
    self_ns: entries.map((e) => e[4]),
    total_ns: entries.map((e) => e[5]),
    calls: entries.map(() => 1),
    folded: entries.map((e) => e[6] ?? 0),
  };
}

function answer(shown: StackRows, above: StackRows | null = null): StacksTable {
  return {
    meta: {
      ...traceMeta("CPU"),
      weight: "host",
      weights: ["host"],
      direction: "top_down",
      files: "",
      root: 0,
      whole_ns: 100,
      all_ns: 200,
      no_stack_ns: 0,
      entries: 4,
      kinds: [],
      roles: [],
      limit_ns: 1,
      has_frames: true,
      has_backward: false,
      backward: "as_run",
      thread: -1,
      threads: [],
      above,
    },
    columns: ["id", "parent", "name", "total_ns"].map((key) => ({
      key,
      label: key,
      type: key === "name" ? "string" : "number",
      unit: key === "total_ns" ? "ns" : null,
      help: "",
      id: "",
    })),
    rows: shown,
  };
}

const part = rows(
  [7, -1, "Linear_0", "module", 10, 100],
  [8, 0, "m.py(3): f", "frame", 60, 60],
  [-1, 0, "(smaller)", "smaller", 30, 30, 5],
);
const above = rows(
  [5, -1, "main.py(1): main", "frame", 90, 200],
  [6, 0, "Net_0", "module", 0, 100],
);

describe("entries", () => {
  it("of communication and copies are drawn as such, on the host and on devices", () => {
    const work = rows(
      [1, -1, "nccl:all_reduce", "annotation", 1, 4],
      [2, 0, "ncclKernel", "device", 1, 1],
      [3, 0, "Memcpy HtoD", "device", 1, 1],
      [4, 0, "gemm", "device", 1, 1],
    );
    work.role = ["communication", "communication", "copy", "compute"];
    const { kind } = entriesOf(answer(work), work);
    expect([0, 1, 2, 3].map(kind)).toEqual(["communication", "communication", "copy", "device"]);
    expect(kindsOf(work, ["annotation", "device", "copy", "communication"])).toEqual([
      "device",
      "copy",
      "communication",
    ]);
  });

  it("stand below what is around them", () => {
    const joined = withAbove(answer(part, above));
    expect(joined.id).toEqual([5, 6, 7, 8, -1]);
    expect(joined.parent).toEqual([-1, 0, 1, 2, 2]);
    expect(withAbove(answer(part))).toBe(part);
    expect(withAbove(answer(part, rows()))).toBe(part);
  });

  it("have the width of what was asked for", () => {
    const all = answer(part, above);
    expect(ownValues(withAbove(all), 2)).toEqual([0, 0, 10, 60, 30]);
    expect(Array.from(entriesOf(all, withAbove(all)).own)).toEqual([0, 0, 10, 60, 30]);
  });

  it("say where something is folded", () => {
    const joined = withAbove(answer(part, above));
    expect([0, 1, 2, 3, 4].map((row) => isFolded(joined, row))).toEqual([
      true,
      true,
      true,
      false,
      true,
    ]);
  });

  it("know their modules", () => {
    expect(modulePath(withAbove(answer(part, above)), 3)).toBe("Net_0/Linear_0");
  });

  it("are a table with the share of everything", () => {
    const all = answer(part, above);
    const table = stackTable(all, withAbove(all));
    expect(table.columns.map(({ key }) => key)).toEqual([
      "id",
      "parent",
      "name",
      "total_ns",
      "share",
    ]);
    expect(table.rows.share).toEqual([100, 50, 50, 30, 15]);
  });

  it("say where most time was spent that is told of one", () => {
    const bottom = (shown: StacksTable): StacksTable => ({
      ...shown,
      meta: { ...shown.meta, direction: "bottom_up" },
    });
    expect(largestOwn(answer(part))?.row).toBe(1);
    expect(largestOwn(bottom(answer(part)))?.row).toBe(0);
    const folded = rows([-1, -1, "(smaller)", "smaller", 30, 30, 5], [9, -1, "f", "frame", 2, 2]);
    expect(largestOwn(answer(folded))?.row).toBe(1);
    expect(largestOwn(answer(rows()))).toBeNull();
    const twice = rows(
      [1, -1, "f", "frame", 4, 4],
      [2, -1, "g", "frame", 3, 6],
      [3, 2, "f", "frame", 1, 1],
      [4, 2, "g", "frame", 3, 3],
    );
    expect(largestOwn(answer(twice))).toEqual({ row: 1, ns: 6 });
  });

  it("have a time of their own only when they are seen from the top", () => {
    const self = {
      key: "self_ns",
      label: "Self",
      type: "number",
      unit: "ns",
      help: "",
      id: "",
    } as const;
    const seen = (direction: StacksTable["meta"]["direction"]) => {
      const top = answer(part);
      return { ...top, meta: { ...top.meta, direction }, columns: [...top.columns, self] };
    };
    const shown = (from: StacksTable) => ({
      columns: stackTable(from, part).columns.map(({ key }) => key),
      tooltip: entriesOf(from, part)
        .tooltip(0)
        .lines.map(({ label }) => label),
    });
    expect(shown(seen("top_down")).columns).toContain("self_ns");
    expect(shown(seen("bottom_up")).columns).not.toContain("self_ns");
    expect(shown(seen("top_down")).tooltip).toContain("Self");
    expect(shown(seen("bottom_up")).tooltip).not.toContain("Self");
  });
});

describe("looks", () => {
  it("are by kind", () => {
    expect(labelOf("frame", "a/m.py(3): f")).toBe("f · m.py:3");
    expect(labelOf("builtin", "<built-in function len>")).toBe("len (built-in)");
    expect(labelOf("operator", "aten::mm")).toBe("aten::mm");
    expect(labelOf("device", "void at::native::f<4>(int)", "f")).toBe("f");
    expect(kindsOf(part, ["frame", "operator", "module", "smaller"])).toEqual([
      "frame",
      "module",
      "smaller",
    ]);
  });

  it("tell total, self, calls, and how many are folded", () => {
    const all = answer(part);
    const { tooltip, spoken } = entriesOf(all, part);
    expect(tooltip(1)).toEqual({
      title: "m.py(3): f",
      subtitle: "Python",
      lines: [
        { label: "Total", value: "60 ns", share: "30.0 %" },
        { label: "Self", value: "60 ns", share: "30.0 %" },
        { label: "Calls", value: "1" },
      ],
    });
    expect(tooltip(2).lines.at(-1)).toEqual({ label: "Entries", value: "5" });
    expect(spoken(1)).toBe("m.py(3): f, Python: 60 ns, 30.0 %");
  });
});
