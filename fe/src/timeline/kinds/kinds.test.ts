import { afterEach, expect, it, vi } from "vitest";
import { metaOf, TRACK_TEXTS, tileOf } from "../cases";
import { Items } from "../items";
import { layOut, UNARRANGED } from "../layout";
import { RankTiles } from "../rankTiles";
import { tracksOf } from "../tracks";
import { rendererOf } from ".";
import type { Demand, View } from "./renderer";

afterEach(() => void vi.unstubAllGlobals());

const WINDOW = { start: 0, end: 1_000 };
const META = metaOf({
  counters: [
    {
      id: "memory",
      kind: "memory_allocated",
      name: "Memory",
      device: "CPU",
      unit: "bytes",
      min: 0,
      max: 9,
    },
  ],
});
const TRACKS = tracksOf("a", "rank a", META, TRACK_TEXTS);
const { rows } = layOut(TRACKS, UNARRANGED);

it("ask for what their rows show", () => {
  const wanted: string[] = [];
  const demand: Demand = {
    lane: (worker, lane) => wanted.push(`${worker} lane ${lane}`),
    counters: (worker) => wanted.push(`${worker} counters`),
    derived: (worker, of) => wanted.push(`${worker} ${of}`),
    snapshot: (worker) => wanted.push(`${worker} snapshot`),
  };
  for (const row of rows) rendererOf(row.track).want(row, demand);
  expect(wanted).toEqual(["a lane 0", "a counters"]);
});

it("say what lies at a point: a slice can be picked, a group has nothing there", () => {
  const item = { start: 100, end: 300, row: 5 };
  vi.stubGlobal("fetch", () => new Promise(() => undefined));

  const source = new RankTiles(
    { run: "r", worker: "a", span: "1", v: "1" },
    META,
    0,
    TRACKS,
    () => undefined,
  );
  vi.spyOn(source, "piecesFor").mockReturnValue([
    { tile: tileOf({ 0: [item] }), from: 0, to: 65_536 },
  ]);
  const view: View = {
    camera: { window: WINDOW, width: 100 },
    items: new Items(),
    sourceOf: (worker) => (worker === "a" ? source : undefined),
  };
  const picked = rows.map((row) => {
    const y = row.lanes[0]?.y ?? row.y;
    return rendererOf(row.track).hit(row, 20, y + 1, view)?.picked?.row;
  });
  expect(rows.map(({ track }) => track.kind)).toEqual(["group", "group", "slices", "counter"]);
  expect(picked).toEqual([undefined, undefined, 5, undefined]);
});
