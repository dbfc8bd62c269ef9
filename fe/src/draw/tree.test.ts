import { describe, expect, it } from "vitest";
import { around, childrenOf, countChildren, levelsOf, visibleRows, withParents } from "./tree";

// 0 ─┬─ 1 ── 2
//    └─ 3
// 4 ── 5
const PARENT = [-1, 0, 1, 0, -1, 4];

describe("rows inside each other", () => {
  const children = childrenOf(PARENT);

  it("know their children and levels", () => {
    expect(PARENT.map((_, row) => countChildren(children, row))).toEqual([2, 1, 0, 0, 1, 0]);
    expect([...levelsOf(PARENT)]).toEqual([0, 1, 2, 1, 0, 1]);
    expect(around(PARENT, 2)).toEqual([0, 1]);
    expect(around(PARENT, 0)).toEqual([]);
  });

  it("are seen where all around them are open", () => {
    expect(visibleRows(children, () => true, null)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(visibleRows(children, () => false, null)).toEqual([0, 4]);
    expect(visibleRows(children, (row) => row === 0, null)).toEqual([0, 1, 3, 4]);
    expect(visibleRows(childrenOf([]), () => true, null)).toEqual([]);
  });

  it("have an order among siblings only", () => {
    const backwards = childrenOf(PARENT, [5, 4, 3, 2, 1, 0]);
    expect(visibleRows(backwards, () => true, null)).toEqual([4, 5, 0, 3, 1, 2]);
  });

  it("stay with what is around them when filtered", () => {
    const kept = withParents(PARENT, Uint8Array.from([0, 0, 1, 0, 0, 0]));
    expect([...kept]).toEqual([1, 1, 1, 0, 0, 0]);
    expect(visibleRows(children, () => true, kept)).toEqual([0, 1, 2]);
  });

  it("are quick to go through", () => {
    const size = 300_000;
    const parent = Array.from({ length: size }, (_, i) => (i === 0 ? -1 : i - 1 - (i % 7)));
    const start = performance.now();
    expect(visibleRows(childrenOf(parent), () => true, null)).toHaveLength(size);
    // Some 30 ms on a laptop; recursion or a search for children would take minutes.
    expect(performance.now() - start).toBeLessThan(3000);
  });
});
