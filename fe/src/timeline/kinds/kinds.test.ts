import { afterEach, expect, it, vi } from "vitest";
import { setBase } from "../../api";
import { LOOK, metaOf, TRACK_TEXTS, tileOf } from "../cases";
import { CounterTiles } from "../counterTiles";
import { Items } from "../items";
import { LaneTiles } from "../laneTiles";
import { layOut, UNARRANGED } from "../layout";
import { RankTiles } from "../rankTiles";
import { sliceOf } from "../scene";
import { tracksOf } from "../tracks";
import { rendererOf } from ".";
import type { View } from "./renderer";

setBase(new URL("http://localhost/"));
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

/** The rank with its answers; none of them ever comes. */
function rank(): { source: RankTiles; asked: string[] } {
  const asked: string[] = [];
  vi.stubGlobal("fetch", ({ pathname }: URL) => {
    asked.push(pathname.slice(1));
    return new Promise(() => undefined);
  });
  const key = { run: "r", worker: "a", span: "1", v: "1" };
  return { source: new RankTiles(key, META, 0, TRACKS), asked };
}

it("ask for what their rows show", () => {
  const { source, asked } = rank();
  const sight = { level: 0, window: WINDOW, look: LOOK };
  const counters = rows.filter(({ track }) => track.kind === "counter");
  source.want(new Map(), sight);
  expect(asked).toEqual([]);
  source.want(new Map([[CounterTiles, counters]]), sight);
  expect(asked).toEqual(["api/timeline/counters"]);
  source.want(new Map([[LaneTiles, rows]]), sight);
  expect(new Set(asked)).toEqual(new Set(["api/timeline/counters", "api/timeline/tiles"]));
  expect(rows.map(({ track }) => rendererOf(track).source)).toEqual([
    LaneTiles,
    LaneTiles,
    LaneTiles,
    CounterTiles,
  ]);
});

it("draw the picture anew when something has come, until they are no longer listened to", () => {
  const { source } = rank();
  let drawn = 0;
  const stop = source.subscribe(() => {
    drawn += 1;
  });
  source.source(LaneTiles).retry();
  stop();
  source.source(LaneTiles).retry();
  expect(drawn).toBe(1);
});

it("say what lies at a point: a slice can be picked, a group has nothing there", () => {
  const item = { start: 100, end: 300, row: 5 };
  const { source } = rank();
  vi.spyOn(source.source(LaneTiles), "pieces").mockReturnValue([
    { tile: tileOf({ 0: [item] }), from: 0, to: 65_536 },
  ]);
  const view: View = {
    camera: { window: WINDOW, width: 100 },
    items: new Items(),
    sourceOf: (worker) => (worker === "a" ? source : undefined),
  };
  const picked = rows.map((row) => {
    const y = row.lanes[0]?.y ?? row.y;
    return sliceOf(rendererOf(row.track).hit(row, 20, y + 1, view)?.picked)?.row;
  });
  expect(rows.map(({ track }) => track.kind)).toEqual(["group", "group", "slices", "counter"]);
  expect(picked).toEqual([undefined, undefined, 5, undefined]);
});
