import { expect, it } from "vitest";
import type { RunOverview } from "../../api";
import { densityOf } from "./density";

const overview = {
  begin_ns: 0,
  end_ns: 1_000,
  workers: [{ worker: "rank1", offset_ns: 100, device: [0, 255], host: [51, 0] }],
} as unknown as RunOverview;

it("is of the rank that is shown, in its own times", () => {
  const { device, host } = densityOf(overview, "rank1");
  expect(device).toEqual({ window: { start: -100, end: 900 }, values: [0, 1] });
  expect(host?.values).toEqual([0.2, 0]);
});

it("is nothing while nothing is known", () => {
  expect(densityOf(null, "rank1")).toEqual({ device: null, host: null });
  expect(densityOf(overview, "rank7")).toEqual({ device: null, host: null });
});
