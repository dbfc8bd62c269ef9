import { describe, expect, it } from "vitest";
import { LANE, THIN_LANE } from "./kinds/slices";
import {
  type Arrangement,
  isCollapsed,
  layOut,
  reordered,
  rowAt,
  rowsBetween,
  UNARRANGED,
} from "./layout";
import type { Track } from "./track";

const track = (key: string, kind: "group" | "slices" | "counter", lanes = 0, name = key): Track => {
  const at = key.lastIndexOf("/");
  const parent = at < 0 ? null : key.slice(0, at);
  const numbers = Array.from({ length: lanes }, (_, i) => i);
  const isGroup = kind === "group";
  return { key, worker: "r", parent, kind, isGroup, name, lanes: numbers, events: 1 };
};

const TRACKS = [
  track("r0", "group"),
  track("r0/p1", "group", 0, "python"),
  track("r0/p1/t1", "slices", 3, "thread 1 (main)"),
  track("r0/p1/t2", "slices", 1, "thread 2"),
  track("r0/d0", "group", 0, "GPU 0"),
  track("r0/d0/s7", "slices", 2, "stream 7"),
  track("r0/d0/c", "counter", 0, "Utilization"),
  track("r1", "group"),
  track("r1/d1", "group", 0, "GPU 1"),
  track("r1/d1/s7", "slices", 1, "stream 7"),
];

const with_ = (more: Partial<Arrangement>): Arrangement => ({ ...UNARRANGED, ...more });
const keys = (arrangement: Arrangement) =>
  layOut(TRACKS, arrangement).rows.map(({ track: { key } }) => key);

it("is every track in the order of the tree, without gaps", () => {
  const { rows, height, left } = layOut(TRACKS, UNARRANGED);
  expect(rows.map(({ track: { key } }) => key)).toEqual(TRACKS.map(({ key }) => key));
  let y = 0;
  for (const row of rows) {
    expect(row.y).toBe(y);
    y += row.height;
    for (const lane of row.lanes) {
      expect(lane.y).toBeGreaterThanOrEqual(row.y);
      expect(lane.y + lane.height).toBeLessThanOrEqual(row.y + row.height);
    }
  }
  expect(height).toBe(y);
  expect(left).toBe(0);
  expect(rows[2]?.lanes.map(({ height: lane, labels }) => [lane, labels])).toEqual(
    Array(3).fill([LANE, true]),
  );
});

describe("collapsed", () => {
  it("a group shows the outermost lane of all that is in it", () => {
    const { rows, left } = layOut(TRACKS, with_({ toggled: new Set(["r0"]) }));
    expect(rows.map(({ track: { key } }) => key)).toEqual(["r0", "r1", "r1/d1", "r1/d1/s7"]);
    expect(rows[0]?.lanes.map(({ track: key, lane }) => [key, lane])).toEqual([
      ["r0/p1/t1", 0],
      ["r0/p1/t2", 0],
      ["r0/d0/s7", 0],
    ]);
    expect(left).toBe(0);
  });

  it("a thread keeps all its lanes, thinner", () => {
    const { rows } = layOut(TRACKS, with_({ toggled: new Set(["r0/p1/t1"]) }));
    expect(rows[2]?.lanes.map(({ height, labels }) => [height, labels])).toEqual(
      Array(3).fill([THIN_LANE, false]),
    );
  });

  it("deep tracks are so at first", () => {
    const deep = track("r/p/t", "slices", 60);
    expect(isCollapsed(deep, UNARRANGED)).toBe(true);
    expect(isCollapsed(deep, with_({ toggled: new Set([deep.key]) }))).toBe(false);
  });
});

it("pinned tracks stand at the top, once, in the order of pinning", () => {
  const pinned = ["r1/d1/s7", "r0/p1/t2", "gone"];
  const { rows, left } = layOut(TRACKS, with_({ pinned }));
  expect(rows.slice(0, 2).map((row) => [row.track.key, row.pinned])).toEqual([
    ["r1/d1/s7", true],
    ["r0/p1/t2", true],
  ]);
  expect(rows.filter((row) => row.track.key === "r1/d1/s7")).toHaveLength(1);
  expect(left).toBe(0);
});

it("counts the leaves that are hidden, whichever way", () => {
  const { rows, left } = layOut(TRACKS, with_({ hidden: new Set(["r0/d0", "r0/p1/t2"]) }));
  expect(rows.map(({ track: { key } }) => key)).toEqual([
    "r0",
    "r0/p1",
    "r0/p1/t1",
    "r1",
    "r1/d1",
    "r1/d1/s7",
  ]);
  expect(left).toBe(3);
});

it("filters by words of the name or of a group around it, and drops groups left empty", () => {
  expect(keys(with_({ filter: "STREAM" }))).toEqual([
    "r0",
    "r0/d0",
    "r0/d0/s7",
    "r1",
    "r1/d1",
    "r1/d1/s7",
  ]);
  expect(keys(with_({ filter: "gpu 1" }))).toEqual(["r1", "r1/d1", "r1/d1/s7"]);
  expect(keys(with_({ filter: "python main" }))).toEqual(["r0", "r0/p1", "r0/p1/t1"]);
  expect(layOut(TRACKS, with_({ filter: "no such" }))).toEqual({ rows: [], height: 0, left: 5 });
});

describe("moving", () => {
  it("changes places with the next sibling and stays in its group", () => {
    const order = reordered(TRACKS, UNARRANGED, "r0/d0", -1);
    expect(order).toEqual(["r0/d0", "r0/p1"]);
    const arrangement = with_({ order: order ?? [] });
    expect(keys(arrangement).slice(0, 3)).toEqual(["r0", "r0/d0", "r0/d0/s7"]);
    const back = reordered(TRACKS, arrangement, "r0/d0", 1);
    expect(keys(with_({ order: back ?? [] }))).toEqual(keys(UNARRANGED));
  });

  it("ends at the first and at the last", () => {
    expect(reordered(TRACKS, UNARRANGED, "r0", -1)).toBeNull();
    expect(reordered(TRACKS, UNARRANGED, "r1", 1)).toBeNull();
    expect(reordered(TRACKS, UNARRANGED, "gone", 1)).toBeNull();
  });
});

it("finds rows by height", () => {
  const { rows, height } = layOut(TRACKS, UNARRANGED);
  for (const row of rows) {
    expect(rowAt(rows, row.y)).toBe(row);
    expect(rowAt(rows, row.y + row.height - 0.5)).toBe(row);
  }
  expect(rowAt(rows, height)).toBeNull();
  expect(rowAt(rows, -1)).toBeNull();
  expect(rowsBetween(rows, 0, height)).toEqual([0, rows.length]);
  const third = rows[2];
  expect(rowsBetween(rows, third?.y ?? 0, (third?.y ?? 0) + 1)).toEqual([2, 3]);
});
