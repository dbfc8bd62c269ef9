import { describe, expect, it } from "vitest";
import { formatRange, parseRange } from "./range";

const NAMES = ["5", "6", "7", "8"];

describe("the range of steps in the address", () => {
  it("reads back what it writes", () => {
    const range = { first: 1, last: 2 };
    expect(formatRange(NAMES, range)).toBe("6~7");
    expect(parseRange("6~7", NAMES)).toEqual(range);
    expect(parseRange("8~8", NAMES)).toEqual({ first: 3, last: 3 });
  });

  it("is not written when it is all steps, or none that exist", () => {
    expect(formatRange(NAMES, { first: 0, last: 3 })).toBeNull();
    expect(formatRange(NAMES, null)).toBeNull();
    expect(formatRange([], { first: 0, last: 0 })).toBeNull();
  });

  it("means nothing when a name is gone, or the ends are swapped", () => {
    for (const text of ["4~6", "6~9", "7~6", "6", "", "~", "6~"]) {
      expect(parseRange(text, NAMES)).toBeNull();
    }
  });

  it("copes with names that contain the separator", () => {
    const names = ["a~b", "c", "b~c"];
    expect(parseRange("a~b~c", names)).toEqual({ first: 0, last: 1 });
    expect(parseRange("a~b~b~c", names)).toEqual({ first: 0, last: 2 });
  });
});
