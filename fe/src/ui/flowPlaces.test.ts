import { describe, expect, it } from "vitest";
import { flow, linesOf, type Part } from "./flowPlaces";

const part = (height: number, column?: number): Part => ({ height, across: false, column });
const across = (height: number): Part => ({ height, across: true, column: undefined });

describe("flow", () => {
  it("leaves a part as it is that would be much higher", () => {
    expect(flow([part(100), part(160)], 2, 10)[0]?.bottom).toBe(100);
    expect(flow([part(100), part(150)], 2, 10)[0]?.bottom).toBe(150);
  });

  it("puts each part into the column that ends first, and lets the columns end together", () => {
    expect(flow([part(100), part(300), part(50), part(200)], 2, 10)).toEqual(
      [
        { column: 0, top: 0, bottom: 100 },
        { column: 1, top: 0, bottom: 300 },
        { column: 0, top: 110, bottom: 160 },
        { column: 0, top: 170, bottom: 370 },
      ].map((place, at) => (at === 1 ? { ...place, bottom: 370 } : place)),
    );
  });

  it("begins anew below a part that is as wide as the page", () => {
    expect(flow([across(40), part(100), part(80), across(30), part(5), part(5)], 2, 10)).toEqual([
      { column: null, top: 0, bottom: 40 },
      { column: 0, top: 50, bottom: 150 },
      { column: 1, top: 50, bottom: 150 },
      { column: null, top: 160, bottom: 190 },
      { column: 0, top: 200, bottom: 205 },
      { column: 1, top: 200, bottom: 205 },
    ]);
  });

  it("gives the whole width to a part that has nothing beside it", () => {
    expect(flow([part(40), across(20), part(30)], 2, 10).map(({ column }) => column)).toEqual([
      null,
      null,
      null,
    ]);
  });

  it("takes no room for what is empty", () => {
    expect(flow([across(0), across(40), across(0), part(10), part(10)], 2, 10).at(-1)).toEqual({
      column: 1,
      top: 50,
      bottom: 60,
    });
  });

  it("leaves parts where they are to stay", () => {
    const places = flow([part(900, 0), part(10, 1), part(10, 0)], 2, 10);
    expect(places.map(({ column }) => column)).toEqual([0, 1, 0]);
    expect(places[2]?.top).toBe(910);
  });

  it("never lets parts of a column overlap", () => {
    const heights = Array.from({ length: 40 }, (_, at) => (at * 7919) % 613);
    const parts = heights.map((height, at) => (at % 9 === 4 ? across(height) : part(height)));
    const places = flow(parts, 3, 12);
    for (const [at, { column, top, bottom }] of places.entries()) {
      expect(bottom - top).toBeGreaterThanOrEqual(parts[at]?.height ?? 0);
      for (const before of places.slice(0, at))
        if (column === null || before.column === null || before.column === column)
          expect(top).toBeGreaterThanOrEqual(before.bottom);
    }
  });
});

it("makes rows of a grid of the edges", () => {
  const places = [
    { column: 0, top: 0, bottom: 100 },
    { column: 1, top: 0, bottom: 300 },
    { column: 0, top: 110, bottom: 300 },
  ];
  expect(linesOf(places)).toEqual({
    rows: [100, 10, 190],
    spans: [
      [1, 2],
      [1, 4],
      [3, 4],
    ],
  });
});
