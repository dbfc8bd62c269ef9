import { describe, expect, it } from "vitest";
import { bytesAxis, fieldMoment, momentIn, roundStep, timeAxis } from "./ticks";

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

it("rounds steps up to 1, 2 or 5", () => {
  expect([0.7, 1, 1.1, 2.5, 6, 30, 0.2 / 0.1].map(roundStep)).toEqual([1, 1, 2, 5, 10, 50, 2]);
});

describe("bytesAxis", () => {
  const labels = (low: number, high: number) => {
    const axis = bytesAxis(low, high);
    return axis.ticks.map(axis.label);
  };

  it("is round in the unit it is read in", () => {
    expect(labels(0, 5.5 * GiB)).toEqual(["0", "2 GiB", "4 GiB", "6 GiB"]);
    expect(labels(0, 900 * MiB)).toEqual([
      "0",
      "200 MiB",
      "400 MiB",
      "600 MiB",
      "800 MiB",
      "1,000 MiB",
    ]);
    expect(labels(0, 8)).toEqual(["0", "2 B", "4 B", "6 B", "8 B"]);
    expect(labels(4.001 * GiB, 4.004 * GiB)).toEqual([
      "4.001 GiB",
      "4.002 GiB",
      "4.003 GiB",
      "4.004 GiB",
    ]);
  });

  it("holds both values, and has a height when they are equal", () => {
    for (const [low, high] of [
      [0, 0],
      [7, 7],
      [4 * GiB, 4 * GiB],
      [123_456, 7_654_321],
    ] as const) {
      const { min, max, ticks } = bytesAxis(low, high);
      expect(min).toBeLessThanOrEqual(low);
      expect(max).toBeGreaterThanOrEqual(high);
      expect(max).toBeGreaterThan(min);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThan(9);
    }
  });
});

describe("timeAxis", () => {
  const labels = (start: number, end: number) => {
    const axis = timeAxis({ start, end }, 5);
    return axis.ticks.map(axis.label);
  };

  it("has ticks inside, in one unit", () => {
    expect(labels(0, 1.77e9)).toEqual(["0 ms", "500 ms", "1,000 ms", "1,500 ms"]);
    expect(labels(2_161_729, 85_295_725)).toEqual(["20 ms", "40 ms", "60 ms", "80 ms"]);
  });

  it("tells ticks apart however narrow the window is", () => {
    expect(labels(85_295_100, 85_296_100)).toEqual([
      "85.2952 ms",
      "85.2954 ms",
      "85.2956 ms",
      "85.2958 ms",
      "85.296 ms",
    ]);
    expect(labels(300_100, 301_100).at(0)).toBe("300.2 µs");
    expect(new Set(labels(1e9, 1e9 + 10)).size).toBe(6);
  });
});

it("writes moments with the digits a window can tell apart", () => {
  expect(momentIn(226_886_000, { start: 0, end: 1.77e9 })).toBe("227 ms");
  expect(momentIn(226_886_123, { start: 226_000_000, end: 227_000_000 })).toBe("226.886 ms");
  expect(momentIn(226_886_123, { start: 0, end: 1.77e9 }, 1e6)).toBe("226.886 ms");
  expect(fieldMoment(226_886_123, { start: 226_000_000, end: 227_000_000 })).toBe("226.8861");
  expect(fieldMoment(1_226_886_123, { start: 0, end: 1.77e9 })).toBe("1226.9");
  expect(fieldMoment(12_345, { start: 0, end: 500_000 })).toBe("12.35");
});
