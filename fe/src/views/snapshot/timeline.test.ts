import { expect, it } from "vitest";
import { ticksOf } from "./Timeline";

it("the axis has round places, as many as there is room for", () => {
  const labels = (axis: "time" | "record", end: number, pixels: number) =>
    ticksOf({ axis, start: 0, end }, pixels).map(({ label }) => label);
  expect(labels("time", 50_650_000, 1_000)).toEqual([
    "0 ms",
    "10 ms",
    "20 ms",
    "30 ms",
    "40 ms",
    "50 ms",
  ]);
  expect(labels("record", 6_485, 600)).toEqual(["0", "5,000"]);
  expect(labels("record", 2, 1_000)).toEqual(["0", "1", "2"]);
  expect(labels("record", 0, 1_000)).toEqual(["0"]);
});
