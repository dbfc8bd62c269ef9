import { describe, expect, it } from "vitest";
import { bytesAxis } from "../../draw";
import { shapesOf, THEME, textsOf } from "../testTheme";
import { timeCurveScene } from "./timeCurve";

const plot = { x: 0, y: 0, width: 1000, height: 300 };
const data = {
  lines: [],
  window: { start: 1000, end: 2000 },
  y: bytesAxis(0, 3),
  marks: [],
  spans: [],
  cursor: null,
};

describe("the scene of stacked areas", () => {
  const areas = [
    { times: [1000, 1500, 2000], low: [0, 0], high: [1, 2], color: "red", outlined: true },
    { times: [1500, 1500], low: [2], high: [3], color: "blue", outlined: false },
  ];
  const events = [
    { time: 1500, color: "green", label: "Peak" },
    { time: 1510, color: "black", label: "Out of memory" },
    { time: 1600, color: "gray", tick: 3 },
    { time: 2500, color: "gray" },
  ];
  const drawn = (more = {}) => timeCurveScene({ ...data, areas, events, ...more }, plot, THEME);
  const paths = shapesOf(drawn(), "path");

  it("goes along both heights of each, which is at least a pixel wide", () => {
    const fills = paths.filter(({ fill }) => fill);
    expect(fills.map(({ d }) => d)).toEqual([
      "M0 300V200H500V100H1000V300Z",
      "M500 100V0H501V100Z",
    ]);
    expect(fills.map(({ stroke }) => stroke)).toEqual([THEME.surface, undefined]);
  });

  it("marks what happened in sight, and writes no name over another one", () => {
    const lines = paths.filter(({ fill }) => !fill);
    expect(lines.map(({ d }) => d)).toEqual(["M500 0V300", "M510 0V300", "M600 300v3"]);
    const [last, first] = shapesOf(drawn(), "text").filter(({ y }) => y < 0);
    expect([last?.text, first?.text]).toEqual(["Out of memory", "Peak"]);
    expect((first?.x ?? 0) + THEME.measure("Peak")).toBeLessThan(last?.x ?? 0);
  });

  it("counts where the axis has no times", () => {
    const ticks = (end: number, counted: boolean) =>
      textsOf(drawn({ counted, window: { start: 0, end }, y: bytesAxis(0, 0) })).slice(2);
    expect(ticks(6_000, true)).toEqual(expect.arrayContaining(["0", "1,000", "6,000"]));
    expect(ticks(2, true)).toEqual(expect.arrayContaining(["0", "1", "2"]));
    expect(ticks(50_000_000, false)).toEqual(expect.arrayContaining(["0 ms", "50 ms"]));
  });
});
