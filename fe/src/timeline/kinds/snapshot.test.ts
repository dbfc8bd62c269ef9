import { afterEach, expect, it, vi } from "vitest";
import { setBase } from "../../api";
import type { SnapshotColumns, SnapshotTracks } from "../../api/snapshotTracks";
import { pack } from "../../draw";
import { bytes, frameLabel } from "../../format";
import { timelineTexts } from "../../i18n";
import { emptyScene, fakeContext, LOOK, metaOf, TRACK_TEXTS } from "../cases";
import { colorsOf } from "../colors";
import { Painter } from "../frame";
import { Items } from "../items";
import { layOut, UNARRANGED } from "../layout";
import { RankTiles } from "../rankTiles";
import { SHADES } from "../raster";
import { SnapshotSource, stretchesOf } from "../snapshotTiles";
import { lineColor, snapshotTracks } from "../snapshotTracks";
import { tracksOf } from "../tracks";
import { rendererOf } from ".";
import { snapshot } from "./snapshot";

setBase(new URL("http://localhost/"));
afterEach(() => void vi.unstubAllGlobals());

const text = timelineTexts.snapshot;
const META = metaOf();
/** A column is 128 ns: 512 of them are a tile. The snapshot's clock is 1000 ns behind that of the rank. */
const SHIFT = 1_000;
const CAMERA = { window: { start: 0, end: 65_536 }, width: 512 };

const ABOUT = {
  device: 0,
  start_ns: 128 * 100 - SHIFT,
  end_ns: 128 * 400 - SHIFT,
  curves: [
    { kind: "requested", most: 100, exact: true },
    { kind: "allocated", most: 200, exact: false },
    { kind: "reserved", most: 400, exact: true },
  ],
  lines: ["/app/a.py(1): weights", "/app/b.py(2): act"],
  calls: [
    { call: "segment_alloc", count: 3, bytes: 400 },
    { call: "oom", count: 1, bytes: 900 },
  ],
  moments: [],
  contradictions: 0,
} as unknown as SnapshotTracks;

const ANSWER = {
  column: [100, 200, 400],
  curves: [
    {
      kind: "requested",
      before: null,
      least: [60, 60, 20],
      most: [60, 100, 80],
      last: [60, 80, 20],
    },
    {
      kind: "allocated",
      before: null,
      least: [64, 64, 30],
      most: [64, 128, 90],
      last: [64, 90, 30],
    },
    {
      kind: "reserved",
      before: null,
      least: [0, 400, 400],
      most: [400, 400, 400],
      last: [400, 400, 400],
    },
  ],
  before: null,
  lines: [
    [60, 60, 20],
    [0, 40, 60],
  ],
  last: [
    [60, 60, 20],
    [0, 20, 0],
  ],
  calls: {
    column: [100, 300],
    call: ["segment_alloc", "oom"],
    count: [3, 1],
    bytes: [400, 900],
    position: [0, 17],
    time_ns: [128 * 100 - SHIFT + 5, 128 * 300 - SHIFT + 7],
  },
} as unknown as SnapshotColumns;

function rank(offset = 0) {
  const asked: URL[] = [];
  vi.stubGlobal("fetch", async (url: URL) => {
    asked.push(url);
    return { ok: true, text: async () => JSON.stringify(ANSWER) };
  });
  const tracks = tracksOf("a", "rank a", META, TRACK_TEXTS);
  const key = { run: "r", worker: "a", span: "1", v: "1" };
  const source = new RankTiles(key, META, offset, tracks);
  const of = { key: { run: "r", worker: "s", span: "2", device: 0 }, about: ABOUT, shift: SHIFT };
  source.source(SnapshotSource).show(of, null);
  return { source, asked, rows: layOut([...tracks, ...snapshotTracks("a", META, of)], UNARRANGED) };
}

async function shown(offset = 0) {
  const found = rank(offset);
  const { source } = found;
  const camera = { ...CAMERA, window: { start: offset, end: offset + 65_536 } };
  const sight = { level: 0, window: source.own(camera.window), look: LOOK };
  source.want(new Map([[SnapshotSource, found.rows.rows]]), sight);
  await vi.waitFor(() => expect(source.missing).toBe(0));
  const view = {
    camera,
    items: new Items(),
    sourceOf: (worker: string) => (worker === "a" ? source : undefined),
  };
  const rowOf = (id: string) => {
    const row = found.rows.rows.find(({ track }) => track.part === id);
    if (!row) throw new Error(id);
    return row;
  };
  const hit = (id: string, x: number, share = 0.5) => {
    const row = rowOf(id);
    return rendererOf(row.track).hit(row, x, row.y + share * row.height, view);
  };
  return { ...found, camera, view, rowOf, hit };
}

it("has a track for the calls and for each curve that is known, in a group below its device", () => {
  const { rows } = rank();
  const own = rows.rows.filter(({ track }) => track.kind === "snapshot");
  expect(own.map(({ track }) => track.part)).toEqual([
    "calls",
    "requested",
    "allocated",
    "reserved",
  ]);
  expect(rows.rows.at(-5)?.track).toMatchObject({ name: text.group("s"), parent: "a:" });
  const device = { ...META.tracks[1], id: 3, parent: 2, device: 0 } as (typeof META.tracks)[0];
  const key = { run: "r", worker: "s", span: "2", device: 0 };
  const with_ = { key, about: ABOUT, shift: 0 };
  expect(snapshotTracks("a", { tracks: [...META.tracks, device] }, with_)[0]?.parent).toBe("a:2");
  const none = { ...ABOUT, start_ns: null, end_ns: null, curves: [] } as SnapshotTracks;
  expect(snapshotTracks("a", META, { key, about: none, shift: 0 })).toHaveLength(1);
});

it("asks in times of the snapshot, only while it is in sight", async () => {
  const { source, asked } = await shown();
  const queries = asked.map(({ searchParams }) => Object.fromEntries(searchParams));
  expect(queries[0]).toEqual({
    ...{ run: "r", worker: "s", span: "2", device: "0" },
    ...{ start: String(-SHIFT), width: "128", columns: "512" },
  });
  source.want(new Map(), { level: 0, window: CAMERA.window, look: LOOK });
  expect(source.missing).toBe(0);
  expect(asked).toHaveLength(2);
});

it("knows nothing before the first record and behind the last", () => {
  const tile = { answer: ANSWER, begin: 0, width: 128 };
  const stretches = stretchesOf(tile, "requested", 128 * 100, 128 * 400);
  expect(stretches.map(({ from, to, least, most }) => [from / 128, to / 128, least, most])).toEqual(
    [
      [100, 101, 60, 60],
      [101, 200, 60, 60],
      [200, 201, 60, 100],
      [201, 400, 80, 80],
    ],
  );
  for (const each of stretches) expect(each.lines(0) + each.lines(1)).toBe(each.most);
  expect(stretchesOf(tile, "active", 0, 1e6)).toEqual([]);
});

it("goes on with what was before where a tile has no record", () => {
  const answer = {
    ...ANSWER,
    column: [],
    before: [7, 2],
    curves: [{ kind: "requested", before: 9, least: [], most: [], last: [] }],
    lines: [[], []],
    last: [[], []],
  } as unknown as SnapshotColumns;
  const [only, ...others] = stretchesOf({ answer, begin: 0, width: 128 }, "requested", 10, 900);
  expect(only).toMatchObject({ from: 10, to: 900, least: 9, most: 9 });
  expect([only?.lines(0), only?.lines(1)]).toEqual([7, 2]);
  expect(others).toEqual([]);
});

it.each([0, 5_000])(
  "draws lines on each other, and nothing where nothing is known (%s)",
  async (offset) => {
    const { source, rows, camera, rowOf } = await shown(offset);
    const { context, texts } = fakeContext();
    let pixels = new Uint32Array(0);
    const put = (image: ImageData) => {
      pixels = new Uint32Array(image.data.buffer);
    };
    const kept = new Proxy(context, {
      get: (all, name) => (name === "putImageData" ? put : Reflect.get(all, name)),
    });
    new Painter().draw(kept, emptyScene({ sources: [source], rows, camera }), 1);
    const colors = colorsOf(() => "#336699", "sans");
    const at = (x: number, y: number) => pixels[Math.floor(y) * camera.width + x];
    const colorOf = (line: number) => colors.shades[lineColor(line) * SHADES + SHADES - 1];
    const { y, height } = rowOf("requested");
    const base = y + height - 4;
    // 400 bytes are the height of each row, so that curves can be compared
    const of = (size: number) => base - (size / 400) * (height - 8);
    expect([at(150, of(30)), at(150, of(66))]).toEqual([colorOf(0), 0]);
    expect([at(250, of(30)), at(250, of(70))]).toEqual([colorOf(0), colorOf(1)]);
    expect([at(50, of(30)), at(450, of(10))]).toEqual([0, 0]);
    const reserved = rowOf("reserved");
    expect(at(300, reserved.y + 12)).toBe(colors.counter.area);
    const calls = rowOf("calls");
    expect(at(300, calls.y + calls.height / 2)).toBe(pack(colors.danger));
    expect(texts).toContain(text.names.oom);
  },
);

it("says which line holds how much at a moment, and which record that is", async () => {
  const { hit, rowOf } = await shown();
  const { height } = rowOf("requested");
  const share = (size: number) => (height - 4 - (size / 400) * (height - 8)) / height;
  const tipOf = (x: number, size: number) => hit("requested", x, share(size))?.tip(CAMERA.window);
  expect(tipOf(250, 30)?.title).toBe(frameLabel(ABOUT.lines[0] ?? ""));
  expect(tipOf(250, 70)?.lines.map(({ value }) => value)).toEqual([
    expect.any(String),
    bytes(20),
    bytes(80),
  ]);
  expect(tipOf(250, 200)?.title).toBe(text.curves.requested);
  expect(hit("requested", 50)).toBeNull();
  expect(hit("requested", 450)).toBeNull();
  const moment = hit("reserved", 250);
  expect(moment?.picked).toEqual({ worker: "a", at: { type: "time", time: 250 * 128 - SHIFT } });
  expect(hit("allocated", 250)?.tip(CAMERA.window).lines.at(-1)?.value).toBe(
    text.atLeast(bytes(90)),
  );
  expect(hit("requested", 200.5)?.tip(CAMERA.window).lines.at(-1)?.value).toBe(
    `${bytes(60)} – ${bytes(100)}`,
  );
});

it("says what was called, of what matters most near a point", async () => {
  const { hit } = await shown();
  const oom = hit("calls", 302);
  expect(oom?.picked).toEqual({ worker: "a", at: { type: "record", position: 17 } });
  expect(oom?.tip(CAMERA.window)).toMatchObject({ title: text.names.oom });
  expect(hit("calls", 100)?.tip(CAMERA.window)).toMatchObject({
    title: text.names.segment_alloc,
    subtitle: text.largestOf("3"),
  });
  expect(hit("calls", 200)).toBeNull();
  expect(snapshot.lanes).toBeUndefined();
});

it("is gone with its link", async () => {
  const { source, hit } = await shown();
  source.source(SnapshotSource).show(null, null);
  expect(hit("calls", 302)).toBeNull();
});
