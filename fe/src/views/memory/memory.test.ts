import { describe, expect, it } from "vitest";
import type { DeviceMemory, MemoryAliveTable, Steps } from "../../api";
import { traceMeta } from "../../api/cases";
import { aliveTable, eventsTable, holdersTable } from "./columns";
import {
  availableLines,
  extentOf,
  heldAt,
  pointsOf,
  shownLines,
  spanAt,
  stepPoints,
  stepSpans,
  toggleLine,
} from "./curve";
import { isForeign, momentOf, momentWithin, rangeWithin, wholeOf } from "./look";
import { params } from "./params";

const whole = { start: 100, end: 1100 };

/** Three pieces; the second stands for several records. */
const curve: DeviceMemory = {
  device: "GPU0",
  records: 9,
  peak: { time_ns: 410, allocated: 90, reserved: 100 },
  peak_in_range: { time_ns: 410, allocated: 90, reserved: 100 },
  before: { allocated: 5, reserved: 10 },
  device_bytes: 1000,
  baseline: 5,
  unrecorded: 0,
  time_ns: [200, 400, 600],
  allocated_min: [20, 15, 30],
  allocated_max: [20, 90, 30],
  allocated: [20, 40, 30],
  reserved_max: [10, 100, 50],
  reserved: [10, 80, 50],
};

describe("stepPoints", () => {
  it("draws lowest, highest and last of a piece, and holds the last to the end", () => {
    expect(pointsOf(curve, "allocated", whole)).toEqual([
      [100, 5],
      [200, 20],
      [400, 15],
      [400, 90],
      [400, 40],
      [600, 30],
      [1100, 30],
    ]);
    expect(pointsOf(curve, "reserved", whole)).toEqual([
      [100, 10],
      [200, 10],
      [400, 100],
      [400, 80],
      [600, 50],
      [1100, 50],
    ]);
    expect(pointsOf(curve, "total", whole)).toEqual([
      [100, 1000],
      [1100, 1000],
    ]);
  });

  it("begins a window with what was held before it", () => {
    expect(pointsOf(curve, "allocated", { start: 450, end: 700 })).toEqual([
      [450, 40],
      [600, 30],
      [700, 30],
    ]);
    expect(pointsOf(curve, "allocated", { start: 450, end: 500 })).toEqual([
      [450, 40],
      [500, 40],
    ]);
    expect(pointsOf(curve, "allocated", { start: 700, end: 800 })).toEqual([
      [700, 30],
      [800, 30],
    ]);
  });

  it("never loses a peak", () => {
    for (const [start, end] of [
      [100, 1100],
      [400, 401],
      [300, 400],
    ] as const) {
      expect(extentOf([pointsOf(curve, "allocated", { start, end })]).high).toBe(90);
    }
  });

  it("is flat without records", () => {
    expect(stepPoints([], [[], [], []], 7, whole)).toEqual([
      [100, 7],
      [1100, 7],
    ]);
    expect(extentOf([])).toEqual({ low: 0, high: 0 });
  });
});

describe("lines", () => {
  it("are those the device has", () => {
    expect(availableLines(curve)).toEqual(["allocated", "reserved", "total"]);
    const cpu = {
      ...curve,
      device_bytes: null,
      before: { allocated: 5, reserved: 0 },
      reserved_max: [0, 0, 0],
    };
    expect(availableLines(cpu)).toEqual(["allocated"]);
    expect(shownLines("reserved,total", cpu)).toEqual(["allocated"]);
  });

  it("leave out a device that would press them flat", () => {
    expect(shownLines("", curve)).toEqual(["allocated", "reserved"]);
    expect(shownLines("", { ...curve, device_bytes: 250 })).toEqual([
      "allocated",
      "reserved",
      "total",
    ]);
    expect(shownLines("", { ...curve, device_bytes: 251 })).toEqual(["allocated", "reserved"]);
    expect(shownLines("total,allocated,x", curve)).toEqual(["allocated", "total"]);
  });

  it("are put in and out, but one stays", () => {
    expect(toggleLine("total", ["allocated"])).toBe("allocated,total");
    expect(toggleLine("allocated", ["allocated", "total"])).toBe("total");
    expect(toggleLine("total", ["total"])).toBe("total");
  });
});

it("says what holds at a moment", () => {
  const before = { allocated: 5, lowest: 5, highest: 5, reserved: 10 };
  expect(heldAt(curve, 199)).toEqual(before);
  expect(heldAt(curve, 200).allocated).toBe(20);
  expect(heldAt(curve, 599)).toEqual({ allocated: 40, lowest: 15, highest: 90, reserved: 80 });
  expect(heldAt(curve, 5000).allocated).toBe(30);
  expect(heldAt({ ...curve, time_ns: [] }, 5)).toEqual(before);
});

describe("steps", () => {
  const steps: Steps = {
    rule: "profiler_step",
    names: ["5", "6"],
    start_ns: [100, 300],
    duration_ns: [150, 200],
    rules: [],
    labels: [],
    kinds: [],
    kind: [],
    use: null,
    categories: [],
    category_ns: {},
    columns: [],
  };

  it("are stretches of the axis", () => {
    const spans = stepSpans(steps, (name) => `Step ${name}`);
    expect(spans[1]).toEqual({ start: 300, end: 500, label: "Step 6" });
    expect(spanAt(spans, 100)?.label).toBe("Step 5");
    expect(spanAt(spans, 250)).toBeUndefined();
    expect(spanAt(spans, 499)?.label).toBe("Step 6");
  });

  it("are none when they are not the program's", () => {
    for (const rule of ["none", "whole_trace"]) {
      expect(stepSpans({ ...steps, rule }, String)).toEqual([]);
    }
    expect(stepSpans(undefined, String)).toEqual([]);
  });
});

describe("the address", () => {
  it("has a width to draw even for one record", () => {
    expect(wholeOf(100, 1100)).toEqual(whole);
    expect(wholeOf(7, 7)).toEqual({ start: 7, end: 17 });
  });

  it("keeps tab, range and moment, if they can be meant", () => {
    expect(params.tab.parse("events")).toBe("events");
    expect(params.tab.parse("x")).toBeNull();
    const range = (text: string) => rangeWithin(params.range.parse(text), whole);
    expect(range("200-300")).toEqual({ start: 200, end: 300 });
    expect(range("0-5000")).toBeNull();
    expect(range("x")).toBeNull();
    expect(
      ["", "0-5000", "200-300", "2000-3000", "x"].map((text) =>
        isForeign(params.range.parse(text), whole),
      ),
    ).toEqual([false, false, false, true, true]);
    expect(
      ["", "99", "100", "1100", "1101", "1e3"].map((text) =>
        momentWithin(params.cursor.parse(text), whole),
      ),
    ).toEqual([null, null, 100, 1100, null, null]);
  });
});

describe("momentOf", () => {
  const range = { start: 500, end: 900 };
  const late = { ...curve, peak_in_range: { time_ns: 400, allocated: 40, reserved: 80 } };

  it("is the cursor, else the peak of what is shown", () => {
    expect(momentOf(333, range, curve, null)).toEqual({ kind: "cursor", time: 333 });
    expect(momentOf(null, null, curve, null)).toEqual({ kind: "peak", time: 410 });
    expect(momentOf(null, { start: 400, end: 900 }, curve, curve)).toEqual({
      kind: "peak",
      time: 410,
    });
  });

  it("is not known before the range is, and never before it begins", () => {
    expect(momentOf(null, range, curve, null)).toBeNull();
    expect(momentOf(null, range, curve, late)).toEqual({ kind: "peakOfRange", time: 500 });
  });
});

const alive: MemoryAliveTable = {
  meta: {
    ...traceMeta("GPU"),
    devices: ["GPU0"],
    group_by: null,
    device: "GPU0",
    total: 4,
    at: { time_ns: 410, allocated: 200, reserved: 300 },
    known_bytes: 150,
    unknown_bytes: 50,
  },
  columns: [
    { key: "device", label: "Device", type: "string", unit: null, help: "", id: "" },
    { key: "operator", label: "Operator", type: "string", unit: null, help: "", id: "" },
    { key: "parent", label: "Called by", type: "string", unit: null, help: "", id: "" },
    { key: "bytes", label: "Size", type: "number", unit: "bytes", help: "", id: "" },
    { key: "alloc_ns", label: "Allocated at", type: "number", unit: "ns", help: "", id: "" },
  ],
  rows: {
    device: ["GPU0", "GPU0", "GPU0", "GPU0"],
    operator: ["mm", "empty", "mm", "mm"],
    parent: ["linear", "", "linear", "bmm"],
    bytes: [80, 40, 20, 10],
    alloc_ns: [1, 2, 3, 4],
  },
};

describe("tables", () => {
  it("leave out the device and give each size its unit", () => {
    const table = aliveTable(alive);
    expect(table.columns.map(({ key }) => key)).toEqual([
      "operator",
      "parent",
      "bytes",
      "share",
      "alloc_ns",
    ]);
    expect(table.columns[2]?.ownUnits).toBe(true);
    expect(table.rows.share).toEqual([40, 20, 10, 5]);
    expect(eventsTable(alive).columns[0]?.key).toBe("operator");
  });

  it("sum blocks by operator and caller, with what was there before", () => {
    const { rows } = holdersTable(alive);
    expect(rows.operator).toEqual(["mm", "(allocated before the recording)", "empty", "mm"]);
    expect(rows.parent).toEqual(["linear", "", "", "bmm"]);
    expect(rows.bytes).toEqual([100, 50, 40, 10]);
    expect(rows.blocks).toEqual([2, null, 1, 1]);
    expect(rows.largest).toEqual([80, null, 40, 10]);
    expect(rows.share).toEqual([50, 25, 20, 5]);
  });

  it("have no row for what was there before when nothing was", () => {
    const none = { ...alive, meta: { ...alive.meta, unknown_bytes: 0 } };
    expect(holdersTable(none).rows.operator).toEqual(["mm", "empty", "mm"]);
  });
});
