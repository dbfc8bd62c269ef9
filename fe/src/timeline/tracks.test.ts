import { describe, expect, it } from "vitest";
import type { TimelineCounter, TimelineMeta, TimelineTrack } from "../api";
import { blocksOf } from "./blocks";
import { deviceNumber } from "./kinds/counter";
import { layOut, UNARRANGED } from "./layout";
import { tracksOf } from "./tracks";

const track = (
  id: number,
  parent: number | null,
  kind: TimelineTrack["kind"],
  name: string,
  device: number | null = null,
  role: TimelineTrack["role"] = null,
) =>
  ({ id, parent, kind, name, device, role, slices: 5, instants: 1, busy_ns: 0 }) as TimelineTrack;
const counter = (id: string, device: string) =>
  ({ id, kind: id, name: id, device, unit: "count", min: 0, max: 1 }) as TimelineCounter;

const META = {
  events: { slices: 40, instants: 2 } as TimelineMeta["events"],
  tracks: [
    track(0, null, "process", "python 42"),
    track(1, 0, "thread", "thread 42"),
    track(2, null, "process", "GPU 0", 0),
    track(3, 2, "stream", "stream 7", 0),
    track(4, null, "other", "Spans"),
    track(5, null, "process", "nothing in it"),
  ],
  lanes: {
    track: [1, 1, 1, 1, 3, 3, 4],
    band: [
      "python",
      "python",
      "host",
      "instant",
      "device",
      "sync",
      "span",
    ] as TimelineMeta["lanes"]["band"],
    depth: [0, 1, 0, 0, 0, 0, 0],
    slices: [10, 5, 7, 2, 9, 1, 1],
    busy_ns: [] as number[],
    begin_ns: [] as number[],
    end_ns: [] as number[],
  },
  steps: { rule: "none", names: [], start_ns: [], duration_ns: [] },
  counters: [counter("memory:CPU", "CPU"), counter("util:0", "GPU0")],
};
const texts = {
  bands: { python: "Python", sync: "Waits" },
  idleThreads: (n: string) => `${n} idle threads`,
};

it("is a tree in which every lane stands once", () => {
  const tracks = tracksOf("rank:0", "rank 0", META, texts);
  expect(tracks.map(({ key, parent, kind, name }) => [key, parent, kind, name])).toEqual([
    ["rank%3A0:", null, "group", "rank 0"],
    ["rank%3A0:0", "rank%3A0:", "group", "python 42"],
    ["rank%3A0:1", "rank%3A0:0", "slices", "thread 42"],
    ["rank%3A0:1.python", "rank%3A0:0", "slices", "Python · thread 42"],
    ["rank%3A0:1.instant", "rank%3A0:0", "slices", "instant · thread 42"],
    ["rank%3A0:2", "rank%3A0:", "group", "GPU 0"],
    ["rank%3A0:3", "rank%3A0:2", "slices", "stream 7"],
    ["rank%3A0:3.sync", "rank%3A0:2", "slices", "Waits · stream 7"],
    ["rank%3A0:4", "rank%3A0:", "slices", "Spans"],
    ["rank%3A0:memory:CPU", "rank%3A0:", "counter", "memory:CPU"],
    ["rank%3A0:counters.GPU0", "rank%3A0:2", "group", "Counters of GPU0"],
    ["rank%3A0:util:0", "rank%3A0:counters.GPU0", "counter", "util:0"],
  ]);
  expect(tracks.flatMap(({ lanes }) => lanes).sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  const leaves = tracks.filter(({ lanes }) => lanes.length > 0);
  expect(leaves.reduce((sum, { events }) => sum + events, 0)).toBe(35);
});

describe("blocks of lanes", () => {
  it("hold every lane once, whole leaves, and no more than 48 lanes unless a leaf has more", () => {
    const deep = { ...META, lanes: { ...META.lanes } };
    deep.lanes.track = [...Array(70).fill(1), ...Array(20).fill(1), ...Array(30).fill(3)];
    deep.lanes.band = [
      ...Array(70).fill("python"),
      ...Array(20).fill("host"),
      ...Array(30).fill("device"),
    ];
    deep.lanes.slices = Array(120).fill(1);
    const tracks = tracksOf("r", "r", deep, texts);
    const blocks = blocksOf(tracks);
    expect(blocks.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 120 }, (_, at) => at));
    expect(blocks.map(({ length }) => length)).toEqual([20, 70, 30]);
    for (const { lanes } of tracks)
      if (lanes.length > 0)
        expect(blocks.filter((block) => lanes.some((lane) => block.includes(lane)))).toHaveLength(
          1,
        );
  });

  it("do not reach from one process into the next", () => {
    const blocks = blocksOf(tracksOf("r", "r", META, texts));
    expect(blocks[0]).toEqual([0, 1, 2, 3]);
    expect(blocks[1]).toEqual([4, 5, 6]);
  });
});

it("knows the number of a device by its name", () => {
  expect([deviceNumber("GPU12"), deviceNumber("CPU")]).toEqual([12, null]);
});

it("has other keys for every worker, whatever the workers are called", () => {
  const keys = ["a", "a:util", "a%3Autil", "a:"].flatMap((worker) =>
    tracksOf(worker, worker, META, texts).map(({ key }) => key),
  );
  expect(new Set(keys).size).toBe(keys.length);
});

describe("threads", () => {
  const threads = (...roles: TimelineTrack["role"][]) => ({
    ...META,
    tracks: [
      track(0, null, "process", "python 42"),
      ...roles.map((role, at) => track(at + 1, 0, "thread", `thread ${at + 1}`, null, role)),
    ],
    lanes: {
      ...META.lanes,
      track: roles.map((_, at) => at + 1),
      band: roles.map(() => "host" as const),
      depth: roles.map(() => 0),
      slices: roles.map(() => 3),
    },
    counters: [],
  });

  it("that are idle are folded under one line", () => {
    const found = tracksOf("r", "r", threads("main", "active", "idle", "idle"), texts);
    expect(found.map(({ key, parent, name, first }) => [key, parent, name, first])).toEqual([
      ["r:", null, "r", undefined],
      ["r:0", "r:", "python 42", undefined],
      ["r:1", "r:0", "thread 1", "open"],
      ["r:2", "r:0", "thread 2", undefined],
      ["r:0.idle", "r:0", "2 idle threads", "folded"],
      ["r:3", "r:0.idle", "thread 3", undefined],
      ["r:4", "r:0.idle", "thread 4", undefined],
    ]);
    expect(found[4]?.events).toBe(12);
    const { rows, left } = layOut(found, UNARRANGED);
    expect(rows.map(({ track: { name } }) => name)).toEqual([
      ...["r", "python 42", "thread 1", "thread 2", "2 idle threads"],
    ]);
    expect([rows.at(-1)?.height, rows.at(-1)?.lanes.length, left]).toEqual([24, 2, 0]);
    const opened = layOut(found, { ...UNARRANGED, toggled: new Set(["r:0.idle"]) }).rows;
    expect(opened.map(({ track: { name } }) => name).slice(-2)).toEqual(["thread 3", "thread 4"]);
  });

  it("one that is idle stands where it is", () => {
    const found = tracksOf("r", "r", threads("main", "idle"), texts);
    expect(found.map(({ key }) => key)).toEqual(["r:", "r:0", "r:1", "r:2"]);
  });
});

it("has a group for the counters of the file", () => {
  const recorded = { ...counter("recorded:0", "0"), kind: "recorded", name: "power" };
  const found = tracksOf("r", "r", { ...META, counters: [recorded as TimelineCounter] }, texts);
  expect(found.slice(-2).map(({ key, parent, name }) => [key, parent, name])).toEqual([
    ["r:counters", "r:", "Counters of the file"],
    ["r:recorded:0", "r:counters", "power"],
  ]);
});
