import { describe, expect, it } from "vitest";
import { barHeights, barPath, dragged, gripAt, keyTarget, moveEnd, shift, stepAt } from "./strip";

const RANGE = { first: 4, last: 9 };
const COUNT = 24;

describe("bars", () => {
  it("are as high as their step is long", () => {
    expect(barHeights([50, 100, 25], 10)).toEqual([0.5, 1, 0.25]);
    expect(barHeights([], 10)).toEqual([]);
    expect(barHeights([0, 0], 10)).toEqual([0, 0]);
  });

  it("never lose the longest step of many", () => {
    const many = Array.from({ length: 10_001 }, () => 1);
    many[7_777] = 10;
    const heights = barHeights(many, 180);
    expect(heights).toHaveLength(180);
    expect(heights.filter((height) => height === 1)).toHaveLength(1);
    expect(heights.filter((height) => height === 0.1)).toHaveLength(179);
  });

  it("are drawn one beside the other, the shortest still seen", () => {
    expect(barPath([1, 0])).toBe("M0.1 1V0H0.9V1ZM1.1 1V0.96H1.9V1Z");
  });
});

describe("keys", () => {
  it("move as sliders move", () => {
    expect(keyTarget("ArrowRight", 4, COUNT)).toBe(5);
    expect(keyTarget("ArrowDown", 4, COUNT)).toBe(3);
    expect(keyTarget("PageUp", 4, COUNT)).toBe(6);
    expect(keyTarget("Home", 4, COUNT)).toBe(0);
    expect(keyTarget("End", 4, COUNT)).toBe(23);
    expect(keyTarget("a", 4, COUNT)).toBeNull();
  });

  it("stop at the other thumb and at the ends", () => {
    expect(moveEnd(RANGE, "first", 12, COUNT)).toEqual({ first: 9, last: 9 });
    expect(moveEnd(RANGE, "last", 2, COUNT)).toEqual({ first: 4, last: 4 });
    expect(moveEnd(RANGE, "first", -1, COUNT)).toEqual({ first: 0, last: 9 });
    expect(moveEnd(RANGE, "last", 99, COUNT)).toEqual({ first: 4, last: 23 });
  });
});

describe("dragging", () => {
  const at = (step: number) => (step + 0.5) / COUNT;
  const REACH = 0.01;

  it("finds the step under the pointer, and beyond the strip its ends", () => {
    expect([-1, 0, 0.5, 1, 2].map((place) => stepAt(place, COUNT))).toEqual([0, 0, 12, 23, 23]);
  });

  it("chooses new steps outside of the range, in both directions", () => {
    const grip = gripAt(at(15), RANGE, COUNT, REACH);
    expect(grip).toEqual({ kind: "new", from: 15 });
    expect(dragged(grip, RANGE, at(15), COUNT)).toEqual({ first: 15, last: 15 });
    expect(dragged(grip, RANGE, at(20), COUNT)).toEqual({ first: 15, last: 20 });
    expect(dragged(grip, RANGE, at(12), COUNT)).toEqual({ first: 12, last: 15 });
  });

  it("moves the range when it began inside", () => {
    const grip = gripAt(at(6), RANGE, COUNT, REACH);
    expect(grip.kind).toBe("shift");
    expect(dragged(grip, RANGE, at(9), COUNT)).toEqual({ first: 7, last: 12 });
    expect(dragged(grip, RANGE, 5, COUNT)).toEqual({ first: 18, last: 23 });
    expect(shift(RANGE, -99, COUNT)).toEqual({ first: 0, last: 5 });
  });

  it("chooses new steps when all are shown", () => {
    const whole = { first: 0, last: 23 };
    expect(gripAt(at(6), whole, COUNT, REACH)).toEqual({ kind: "new", from: 6 });
  });

  it("takes the nearer thumb", () => {
    expect(gripAt(4 / COUNT, RANGE, COUNT, REACH)).toEqual({ kind: "end", thumb: "first" });
    const grip = gripAt(10 / COUNT + 0.005, RANGE, COUNT, REACH);
    expect(grip).toEqual({ kind: "end", thumb: "last" });
    expect(dragged(grip, RANGE, 13 / COUNT, COUNT)).toEqual({ first: 4, last: 12 });
    expect(dragged(grip, RANGE, 0, COUNT)).toEqual({ first: 4, last: 4 });
  });
});
