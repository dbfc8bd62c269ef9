import { describe, expect, it } from "vitest";
import { type Item, tileOf } from "./cases";
import type { Tile } from "./decode";
import { gather, Items, itemAt } from "./items";
import type { Piece } from "./levels";
import { Columns, SHADES } from "./raster";

/** One pixel is 100 ns. */
const camera = { window: { start: 1_000, end: 11_000 }, width: 100 };
const piece = (tile: Tile, from: number, to: number): Piece<Tile> => ({ tile, from, to });
const lane = (items: readonly Item[], begin = 0) => tileOf({ 3: items }, { begin });

function gathered(pieces: readonly Piece<Tile>[], offset = 0): Items {
  const items = new Items();
  gather(items, 3, pieces, camera, offset);
  return items;
}
const rows = (items: Items) => [...items.row.slice(0, items.size)];

describe("what can be seen of a lane", () => {
  const tile = lane([
    { start: 0, end: 999, row: 1 },
    { start: 999, end: 1_500, row: 2, name: 9, category: 4 },
    { start: 2_000, end: 2_100, row: 3, count: 12, fill: 77 },
    { start: 11_500, end: 12_000, row: 4 },
  ]);

  it("is in pixels, with all that is known of it", () => {
    const items = gathered([piece(tile, 0, 65_536)]);
    expect(rows(items)).toEqual([2, 3]);
    expect([items.x0[0], items.x1[0]]).toEqual([-0.01, 5]);
    expect([items.x0[1], items.x1[1]]).toEqual([10, 11]);
    expect([items.name[0], items.category[0], items.count[1], items.fill[1]]).toEqual([
      9, 4, 12, 77,
    ]);
  });

  it("is shifted for a rank whose clock begins elsewhere", () => {
    const items = gathered([piece(tile, 0, 65_536)], 10_000);
    expect(rows(items)).toEqual([1, 2]);
    expect(items.x0[0]).toBe(90);
  });

  it("has pieces of one event that follow one another as they are", () => {
    const items = gathered([
      piece(lane([{ start: 2_000, end: 3_000, row: 7, category: 1 }]), 0, 3_000),
      piece(lane([{ start: 0, end: 2_000, row: 7, category: 2 }], 3_000), 3_000, 65_536),
    ]);
    expect(rows(items)).toEqual([7, 7]);
    expect([items.x0[1], items.x1[1]]).toEqual([20, 40]);
  });

  it("has a slice that is in two tiles once", () => {
    const second = lane([{ start: -4_000, end: 1_000, row: 7 }], 6_000);
    const first = lane([{ start: 2_000, end: 7_000, row: 7 }]);
    const items = gathered([piece(first, 0, 6_000), piece(second, 6_000, 12_000)]);
    expect(rows(items)).toEqual([7]);
    expect([items.x0[0], items.x1[0]]).toEqual([10, 60]);
  });

  it("ends where the next piece begins, when a tile is stretched", () => {
    const coarse = lane([
      { start: 2_000, end: 2_500, row: 1, count: 5 },
      { start: 7_000, end: 7_500, row: 2, count: 6 },
    ]);
    const exact = lane([{ start: 1_000, end: 1_400, row: 9 }], 6_000);
    const items = gathered([piece(coarse, 0, 6_000), piece(exact, 6_000, 12_000)]);
    expect(rows(items)).toEqual([1, 9]);
  });

  it("is nothing of a lane that a tile does not have", () => {
    const items = new Items();
    gather(items, 8, [piece(tile, 0, 65_536)], camera);
    expect(items.size).toBe(0);
  });

  it("is what lies under a point, or the nearest within reach", () => {
    const items = gathered([piece(tile, 0, 65_536)]);
    expect(itemAt(items, 3, 0)).toBe(0);
    expect(itemAt(items, 10.5, 0)).toBe(1);
    expect(itemAt(items, 7, 1)).toBe(-1);
    expect(itemAt(items, 6.5, 3)).toBe(0);
    expect(itemAt(items, 9, 3)).toBe(1);
    expect(itemAt(items, 99, 1e9)).toBe(1);
    expect(itemAt(new Items(), 1, 1e9)).toBe(-1);
  });
});

describe("lanes as pixels", () => {
  /** Two colours; the value of a shade says which colour and how dark. */
  const shades = Uint32Array.from({ length: 2 * SHADES }, (_, at) => 1_000 + at);
  const WIDTH = 100;
  const drawn = (items: readonly Item[], ratio = 1): Uint32Array => {
    const raster = {
      pixels: new Uint32Array(WIDTH * ratio * 4),
      width: WIDTH * ratio,
      height: 4,
      ratio,
    };
    const columns = new Columns();
    columns.reset(raster.width);
    const found = gathered([piece(lane(items), 0, 65_536)]);
    columns.add(found, raster.width, ratio, (item) => (found.name[item] ?? 0) % 2);
    columns.write(raster, 1, 3, shades);
    return raster.pixels;
  };
  const at = (pixels: Uint32Array, x: number, y = 1, width = WIDTH) => pixels[y * width + x] ?? 0;
  const full = 1_000 + SHADES - 1;

  it("are as wide as the slices, in all their rows and in no others", () => {
    const pixels = drawn([{ start: 2_000, end: 4_000, row: 1 }]);
    for (const y of [1, 2]) {
      expect(at(pixels, 9, y)).toBe(0);
      for (let x = 10; x < 29; x++) expect(at(pixels, x, y), String(x)).toBe(full);
      // A gap to what may follow at once.
      expect(at(pixels, 29, y)).toBe(0);
    }
    expect([at(pixels, 15, 0), at(pixels, 15, 3)]).toEqual([0, 0]);
  });

  it("show what is nearly out of the picture", () => {
    const pixels = drawn([
      { start: 0, end: 1_120, row: 1 },
      { start: 10_950, end: 30_000, row: 2 },
    ]);
    expect([at(pixels, 0), at(pixels, 1), at(pixels, 98), at(pixels, 99)]).toEqual([
      full,
      0,
      0,
      full,
    ]);
  });

  it("show everything, however short", () => {
    const pixels = drawn([
      { start: 2_050, end: 2_051, row: 1 },
      { start: 3_050, end: 3_050, row: 2 },
    ]);
    expect(at(pixels, 10)).toBeGreaterThan(0);
    expect(at(pixels, 20)).toBeGreaterThan(at(pixels, 10));
  });

  it("are darker where more of a pixel is covered, in the colour of what covers most", () => {
    const pixels = drawn([
      { start: 2_000, end: 2_020, row: 1, name: 0 },
      { start: 2_020, end: 2_080, row: 2, name: 1 },
      { start: 4_000, end: 4_040, row: 3, name: 1 },
    ]);
    expect(at(pixels, 10)).toBeGreaterThan(at(pixels, 30));
    expect(at(pixels, 30)).toBeGreaterThanOrEqual(1_000 + SHADES);
  });

  it("hatch cells, and draw them as dark as they are busy", () => {
    const cell = drawn([{ start: 2_000, end: 6_000, row: 1, count: 40, fill: 255 }]);
    const tones = new Set(Array.from({ length: 30 }, (_, x) => at(cell, 12 + x)));
    expect(tones.size).toBe(2);
    const faint = drawn([{ start: 2_000, end: 6_000, row: 1, count: 40, fill: 100 }]);
    expect(at(faint, 14)).toBeLessThan(Math.max(...tones));
    const slice = drawn([{ start: 2_000, end: 6_000, row: 1 }]);
    expect(new Set(Array.from({ length: 30 }, (_, x) => at(slice, 12 + x))).size).toBe(1);
  });

  it("have as many pixels as the screen", () => {
    const pixels = drawn([{ start: 2_000, end: 2_200, row: 1 }], 2);
    expect(at(pixels, 20, 1, 200)).toBe(full);
    expect(at(pixels, 23, 1, 200)).toBe(full);
    expect(at(pixels, 25, 1, 200)).toBe(0);
  });

  it("begin anew for the next lane", () => {
    const columns = new Columns();
    columns.reset(WIDTH);
    columns.add(
      gathered([piece(lane([{ start: 2_000, end: 9_000, row: 1 }]), 0, 65_536)]),
      WIDTH,
      1,
      () => 0,
    );
    columns.reset(WIDTH);
    const raster = { pixels: new Uint32Array(WIDTH), width: WIDTH, height: 1, ratio: 1 };
    columns.write(raster, 0, 1, shades);
    expect(raster.pixels.every((pixel) => pixel === 0)).toBe(true);
  });
});
