import { afterEach, expect, it, vi } from "vitest";
import { type DerivedKind, type DerivedMeta, setBase } from "../../api";
import { partName, partNumber } from "../../draw/parts";
import { emptyScene, fakeContext, LOOK, metaOf, TRACK_TEXTS, tileBytes, tileOf } from "../cases";
import { colorsOf, PARTS_FROM } from "../colors";
import { DerivedSource } from "../derivedTiles";
import { derivedTracks, withDerived } from "../derivedTracks";
import { Painter } from "../frame";
import { Items } from "../items";
import { layOut, UNARRANGED } from "../layout";
import { RankTiles } from "../rankTiles";
import { tracksOf } from "../tracks";
import { rendererOf } from ".";
import { derived, NO_ROW } from "./derived";

setBase(new URL("http://localhost/"));
afterEach(() => void vi.unstubAllGlobals());

const META = metaOf({
  steps: { rule: "profiler_step", names: ["7"], start_ns: [0], duration_ns: [65_536] },
});
const ABOUT: DerivedMeta = {
  lanes: [{ device: null, pieces: 2, begin_ns: 0, end_ns: 65_536 }],
  parts: ["compute", "launch_latency"],
  edges: ["lane", "launch", "stream"],
  refused: null,
  unexplained: 0,
  longest_step_ns: 65_536,
  has_slack: true,
};
const NAMES = { path: "Critical path", idle: "Idle", phases: "Phases" };
const CAMERA = { window: { start: 0, end: 65_536 }, width: 800 };

function rank(fetched: () => ArrayBuffer): RankTiles {
  vi.stubGlobal("fetch", async () => ({ ok: true, arrayBuffer: async () => fetched() }));
  const source = new RankTiles(
    { run: "r", worker: "a", span: "1", v: "1" },
    META,
    0,
    tracksOf("a", "rank a", META, TRACK_TEXTS),
  );
  source.source(DerivedSource).show("path", ABOUT, {});
  return source;
}

const piece = (start: number, end: number, row: number, category: number, more = {}) => ({
  ...{ start, end, row, category, operator: 1, name: row === NO_ROW ? -1 : row },
  ...more,
});
const TILE = { 0: [piece(0, 30_000, 5, 0), piece(30_000, 65_536, NO_ROW, 1)] };

/** Has the tile of a kind, without asking for it. */
function stand(source: RankTiles, of: DerivedKind): void {
  const tiles = source.source(DerivedSource).tiles(of);
  if (!tiles) throw new Error(of);
  vi.spyOn(tiles, "pieces").mockReturnValue([
    { tile: tileOf(TILE, { kind: "derived" }), from: 0, to: 65_536 },
  ]);
}

function rowsOf(source: RankTiles) {
  const own = derivedTracks("a", META, "path", ABOUT, NAMES);
  return layOut(withDerived(source.tracks, own), UNARRANGED);
}

it("stands first in its rank, or in the process of its device", () => {
  const source = rank(() => tileBytes(TILE, { kind: "derived" }));
  const { rows } = rowsOf(source);
  expect(rows.map(({ track }) => track.name).slice(0, 2)).toEqual(["rank a", "Critical path"]);
  const device = { ...META.tracks[1], id: 3, parent: 2, device: 1 } as (typeof META.tracks)[0];
  const [idle] = derivedTracks(
    "a",
    { tracks: [...META.tracks, device] },
    "idle",
    { ...ABOUT, lanes: [{ device: 1, pieces: 1, begin_ns: 0, end_ns: 1 }] },
    NAMES,
  );
  expect(idle).toMatchObject({ key: "a:idle:1", parent: "a:2", part: "idle:1" });
});

it("asks for its tiles when it is in sight, and draws and names what is there", async () => {
  const source = rank(() => tileBytes(TILE, { kind: "derived", level: 0 }));
  const rows = rowsOf(source);
  const sight = { level: 0, window: CAMERA.window, look: LOOK };
  source.want(new Map(), sight);
  const tiles = source.source(DerivedSource).tiles("path");
  expect(tiles?.missing).toBe(0);
  source.want(new Map([[DerivedSource, rows.rows]]), sight);
  await vi.waitFor(() => expect(tiles?.pieces(0, CAMERA.window)).toHaveLength(2));
  const { context, texts } = fakeContext();
  const scene = emptyScene({
    sources: [source],
    rows,
    camera: CAMERA,
    flags: { windows: [{ start: 10, end: 20 }], current: 0 },
  });
  new Painter().draw(context, scene, 1);
  // The event's name is not known yet: the part is told.
  expect(texts).toEqual(expect.arrayContaining([partName("compute"), partName("launch_latency")]));
});

it("says what a piece is, and picks the event it belongs to; where that stands is to be asked", () => {
  const source = rank(() => tileBytes(TILE, { kind: "derived" }));
  stand(source, "path");
  const row = rowsOf(source).rows.find(({ track }) => track.kind === "derived");
  if (!row) throw new Error("no row");
  const view = { camera: CAMERA, items: new Items(), sourceOf: () => source };
  const hit = derived.hit(row, 100, row.y + 5, view);
  expect(hit?.picked).toEqual({ worker: "a", row: 5, lane: -1, start: 0, duration: 30_000 });
  const tip = hit?.tip(source.whole);
  expect(tip?.title).toBe(partName("compute"));
  expect(tip?.lines.map(({ value }) => value)).toEqual(
    expect.arrayContaining(["the work is launched", "7"]),
  );
  const gap = derived.hit(row, 700, row.y + 5, view);
  expect(gap?.picked).toBeNull();
  expect(gap?.tip(source.whole).title).toBe(partName("launch_latency"));
});

it("says how a phase is known, and folds with its rank like another track", () => {
  const source = rank(() => tileBytes(TILE, { kind: "derived" }));
  const about = {
    ...ABOUT,
    parts: ["phase.forward", "phase.backward"],
    edges: ["none", "autograd"],
    has_slack: false,
  };
  source.source(DerivedSource).show("phases", about, {});
  stand(source, "phases");
  const own = derivedTracks("a", META, "phases", about, NAMES);
  const tracks = withDerived(source.tracks, own);
  const row = layOut(tracks, UNARRANGED).rows.find(({ track }) => track.kind === "derived");
  if (!row) throw new Error("no row");
  expect(row.track.name).toBe("Phases");
  const view = { camera: CAMERA, items: new Items(), sourceOf: () => source };
  const tip = derived.hit(row, 700, row.y + 5, view)?.tip(source.whole);
  expect(tip?.title).toBe("Backward");
  expect(tip?.lines).toContainEqual({ label: "Known by", value: "an autograd node" });
  const hidden = { ...UNARRANGED, hidden: new Set([row.track.key]) };
  expect(layOut(tracks, hidden).rows.some(({ track }) => track.kind === "derived")).toBe(false);
});

it("has colours of its own behind those of slices", () => {
  const { shades, solid } = colorsOf(() => "#336699", "sans");
  expect(solid[PARTS_FROM + partNumber("idle.input")]).toMatch(/^#/);
  expect(shades.length / solid.length).toBe(16);
});

it("has a kind that draws it", () => {
  const [track] = derivedTracks("a", META, "path", ABOUT, NAMES);
  if (!track) throw new Error("no track");
  expect(rendererOf(track)).toBe(derived);
});

it("takes its lanes away with their tiles", () => {
  const source = rank(() => tileBytes(TILE, { kind: "derived" }));
  const derived = source.source(DerivedSource);
  const first = derived.tiles("path");
  derived.show("path", ABOUT, {});
  expect(derived.tiles("path")).not.toBe(first);
  derived.show("path", null, {});
  expect(derived.tiles("path")).toBeUndefined();
  derived.show("idle", { ...ABOUT, refused: { id: "no_device", text: "none" } }, {});
  expect(derived.tiles("idle")).toBeUndefined();
});
