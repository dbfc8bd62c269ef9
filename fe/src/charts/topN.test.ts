import { describe, expect, it } from "vitest";
import { largest, parseTopN, slicesWithRest } from "./topN";

describe("parseTopN", () => {
  it.each([
    ["10", 10],
    [" 1 ", 1],
    ["all", "all"],
    ["0", null],
    ["-3", null],
    ["1.5", null],
    ["1e3", null],
    ["", null],
    ["ten", null],
  ])("%j is %j", (text, n) => expect(parseTopN(text)).toBe(n));
});

describe("slices", () => {
  const items = [1, 5, 3, 0].map((value) => ({ label: `v${value}`, value }));

  it("are the largest, in order, without empty ones", () => {
    expect(largest(items, 2).map(({ value }) => value)).toEqual([5, 3]);
    expect(largest(items, "all")).toHaveLength(3);
  });

  it("add up to the whole whatever N is", () => {
    for (const n of [1, 2, 3, 99, "all"] as const) {
      const slices = slicesWithRest(items, n, (count) => `${count} others`);
      expect(slices.reduce((sum, { value }) => sum + value, 0)).toBe(9);
    }
    const last = slicesWithRest(items, 1, (count) => `${count} others`)[1];
    expect(last).toMatchObject({ label: "2 others", rest: true });
    expect(slicesWithRest(items, 3, () => "rest")).toHaveLength(3);
  });

  it("count what is not among the items", () => {
    const absent = { count: 100, value: 7 };
    const slices = slicesWithRest(items, 2, (count) => `${count} others`, absent);
    expect(slices.at(-1)).toMatchObject({ label: "101 others", value: 8, rest: true });
    expect(slicesWithRest(items, 3, String, { count: 5, value: 0 })).toHaveLength(3);
  });
});
