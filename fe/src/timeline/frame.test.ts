import { afterEach, expect, it, vi } from "vitest";
import { fakeContext, metaOf } from "./cases";
import { colorsOf } from "./colors";
import { Painter } from "./frame";
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
    tracksOf(worker, worker, metaOf(), { bands: {} }),
    () => undefined,
  );

function sceneOf(sources: readonly RankTiles[]): Scene {
  const rows = layOut(
    sources.flatMap(({ tracks }) => tracks),
    UNARRANGED,
  );
  return {
    sources,
    rows,
    camera: { window: { start: 0, end: 65_536 }, width: 400 },
    top: 0,
    height: rows.height,
    colors: colorsOf(() => "#336699", "sans"),
    look: { colorBy: "category", least: 0, found: null, slack: null },
    selected: null,
    hovered: null,
    mark: null,
    flags: null,
    steps: [],
    arrows: [],
  };
}

it("draws each track with the tiles of its own rank, even when one's name begins like another's", () => {
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  const sources = ["a", "a:b", "a:"].map(rankOf);
  const drawn = sources.map((source) => vi.spyOn(source, "piecesFor"));
  new Painter().draw(fakeContext().context, sceneOf(sources), 1);
  expect(drawn.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
});
