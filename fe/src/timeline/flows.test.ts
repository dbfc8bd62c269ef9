import { expect, it } from "vitest";
import { arrowsOf } from "./flows";

const camera = { window: { start: 1_000, end: 2_000 }, width: 100 };
const flow = (from: number, to: number) => ({
  kind: "launch",
  from: { time: from, y: 10 },
  to: { time: to, y: 50 },
});

it("keeps arrows of which a part can be in sight", () => {
  const arrows = arrowsOf(
    [flow(0, 500), flow(0, 1_500), flow(900, 9_000), flow(2_500, 2_600)],
    camera,
  );
  expect(arrows).toEqual([
    { kind: "launch", x0: -100, y0: 10, x1: 50, y1: 50 },
    { kind: "launch", x0: -10, y0: 10, x1: 800, y1: 50 },
  ]);
});

it("draws no more than can be told apart", () => {
  expect(arrowsOf(Array(10_000).fill(flow(1_200, 1_300)), camera)).toHaveLength(3_000);
});
