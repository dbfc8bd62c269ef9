import { expect, it } from "vitest";
import type { RankClock, RunOverview } from "../../api";
import { apart } from "./ranks";

it("puts ranks beside each other by their common clock, and by their files' where there is none", () => {
  const worker = (name: string, offset_ns: number) => ({ worker: name, offset_ns });
  const overview = { workers: [worker("a", 5), worker("b", 1_000)] } as unknown as RunOverview;
  const clock = { workers: ["a", "b", "c"], shift_ns: [0, -40, null] } as unknown as RankClock;
  expect(apart(overview, clock, "a", "b")).toBe(-40);
  expect(apart(overview, clock, "b", "a")).toBe(40);
  expect(apart(overview, null, "a", "b")).toBe(995);
  expect(apart(overview, clock, "a", "c")).toBe(-5);
  expect(apart(null, null, "a", "b")).toBe(0);
});
