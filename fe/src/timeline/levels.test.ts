import { describe, expect, it } from "vitest";
import { EXACT_PX, type Level, levelFor, pieces, tilesOver } from "./levels";

const LEVELS: Level[] = [
  { level: 0, width_ns: 0, tile_ns: 65_536 },
  ...Array.from({ length: 10 }, (_, at) => ({
    level: at + 1,
    width_ns: 256 * 2 ** at,
    tile_ns: 65_536 * 2 ** at,
  })),
];

describe("the level", () => {
  it("is the coarsest at which everything wider than three pixels is exact", () => {
    for (const nsPerPixel of [0.01, 1, 85, 86, 1000, 12_345, 1e9]) {
      const at = levelFor(LEVELS, nsPerPixel);
      expect(LEVELS[at]?.width_ns).toBeLessThanOrEqual(EXACT_PX * nsPerPixel);
      const next = LEVELS[at + 1];
      if (next) expect(next.width_ns).toBeGreaterThan(EXACT_PX * nsPerPixel);
    }
  });
});

it("knows the tiles over a window", () => {
  const [, first] = LEVELS;
  if (!first) throw new Error();
  expect(tilesOver(first, { start: 0, end: 65_535 })).toEqual([0, 0]);
  expect(tilesOver(first, { start: 65_535.5, end: 131_072 })).toEqual([0, 2]);
  expect(tilesOver(first, { start: -1, end: 1 })).toEqual([-1, 0]);
});

describe("what is drawn while tiles are on their way", () => {
  const window = { start: 0, end: 4 * 131_072 - 1 };
  const drawn = (here: readonly string[]) =>
    pieces(LEVELS, 2, window, (level, tile) =>
      here.includes(`${level}/${tile}`) ? `${level}/${tile}` : undefined,
    ).map(({ tile, from, to }) => [tile, from / 65_536, to / 65_536]);

  it("is the wanted tiles where they are", () => {
    expect(drawn(["2/0", "2/1", "2/2", "2/3"])).toEqual([
      ["2/0", 0, 2],
      ["2/1", 2, 4],
      ["2/2", 4, 6],
      ["2/3", 6, 8],
    ]);
  });

  it("is a coarser one, stretched and cut to the place of the missing one", () => {
    expect(drawn(["2/0", "3/1", "5/0"])).toEqual([
      ["2/0", 0, 2],
      ["5/0", 2, 4],
      ["3/1", 4, 6],
      ["3/1", 6, 8],
    ]);
  });

  it("is finer ones when there is nothing coarser", () => {
    expect(drawn(["1/0", "1/1", "0/2", "2/2"])).toEqual([
      ["1/0", 0, 1],
      ["1/1", 1, 2],
      ["0/2", 2, 3],
      ["2/2", 4, 6],
    ]);
  });

  it("is nothing when nothing is here", () => {
    expect(drawn([])).toEqual([]);
  });
});
