import { describe, expect, it } from "vitest";
import {
  contains,
  formatWindow,
  moved,
  NARROWEST_NS,
  parseWindow,
  scaled,
  within,
} from "./timeWindow";

const whole = { start: 100, end: 1100 };

describe("the window in the address", () => {
  it("is read back as written", () => {
    expect(parseWindow(formatWindow({ start: 12_500_000, end: 13_100_000 }))).toEqual({
      start: 12_500_000,
      end: 13_100_000,
    });
  });

  it("is nothing when it cannot be meant", () => {
    for (const wrong of ["", "5", "5-5", "9-5", "-5-9", "1.5-2", "a-b", "1-2-3"]) {
      expect(parseWindow(wrong), wrong).toBeNull();
    }
  });
});

describe("within", () => {
  it("cuts what is outside", () => {
    expect(within({ start: 0, end: 600 }, whole)).toEqual({ start: 100, end: 600 });
    expect(within({ start: 200.7, end: 300.2 }, whole)).toEqual({ start: 200, end: 301 });
  });

  it("is null for everything and for nothing", () => {
    expect(within({ start: 0, end: 2000 }, whole)).toBeNull();
    expect(within({ start: 2000, end: 3000 }, whole)).toBeNull();
    expect(within({ start: 0, end: 100 }, whole)).toBeNull();
  });

  it("keeps a least width, at the edges too", () => {
    expect(within({ start: 500, end: 501 }, whole)).toEqual({
      start: 500,
      end: 500 + NARROWEST_NS,
    });
    const last = within({ start: 1099, end: 1100 }, whole);
    expect(last).toEqual({ start: 1100 - NARROWEST_NS, end: 1100 });
  });
});

it("scales around a moment", () => {
  expect(scaled({ start: 200, end: 600 }, 0.5, 300)).toEqual({ start: 250, end: 450 });
});

it("moves, but not out of the whole", () => {
  expect(moved({ start: 200, end: 400 }, 0.5, whole)).toEqual({ start: 300, end: 500 });
  expect(moved({ start: 1000, end: 1100 }, 0.5, whole)).toEqual({ start: 1000, end: 1100 });
  expect(moved({ start: 110, end: 310 }, -0.5, whole)).toEqual({ start: 100, end: 300 });
});

it("holds both of its ends", () => {
  expect([99, 100, 1100, 1101].map((time) => contains(whole, time))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
