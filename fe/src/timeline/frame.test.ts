import { afterEach, expect, it, vi } from "vitest";
import { emptyScene, fakeContext, metaOf, TRACK_TEXTS } from "./cases";
import { Painter } from "./frame";
import { LaneTiles } from "./laneTiles";
import { layOut, UNARRANGED } from "./layout";
import { RankTiles } from "./rankTiles";
import type { Scene } from "./scene";
import { tracksOf } from "./tracks";

afterEach(() => void vi.unstubAllGlobals());

const rankOf = (worker: string) =>
  new RankTiles(
    { run: "r", worker, span: "1", v: "1" },
    metaOf(),
    0,
    tracksOf(worker, worker, metaOf(), TRACK_TEXTS),
  );

function sceneOf(sources: readonly RankTiles[]): Scene {
  const rows = layOut(
    sources.flatMap(({ tracks }) => tracks),
    UNARRANGED,
  );
  return emptyScene({ sources, rows, camera: { window: { start: 0, end: 65_536 }, width: 400 } });
}

it("draws each track with the tiles of its own rank, even when one's name begins like another's", () => {
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  const sources = ["a", "a:b", "a:"].map(rankOf);
  const drawn = sources.map((source) => vi.spyOn(source.source(LaneTiles), "pieces"));
  new Painter().draw(fakeContext().context, sceneOf(sources), 1);
  expect(drawn.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
});
