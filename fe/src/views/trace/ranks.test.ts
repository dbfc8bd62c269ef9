import { expect, it } from "vitest";
import type { RankClock, RunOverview } from "../../api";
import { apart, type RankAnswer } from "./ranks";

/** With its steps, and where each begins. */
function rank(worker: string, steps: Readonly<Record<string, number>> = {}): RankAnswer {
  const meta = { steps: { names: Object.keys(steps), start_ns: Object.values(steps) } };
  return { key: { run: "r", worker, span: "1" }, meta } as unknown as RankAnswer;
}

it("puts ranks beside each other by their common clock, and by their files' where there is none", () => {
  const worker = (name: string, offset_ns: number) => ({ worker: name, offset_ns });
  const workers = [worker("a", 5), worker("b", 1_000)];
  const overview = { workers, aligned: true } as unknown as RunOverview;
  const clock = { workers: ["a", "b", "c"], shift_ns: [0, -40, null] } as unknown as RankClock;
  const by = "clock";
  expect(apart(overview, clock, rank("a"), rank("b"))).toMatchObject({ offset: -40, by });
  expect(apart(overview, clock, rank("b"), rank("a"))).toMatchObject({ offset: 40, by });
  expect(apart(overview, null, rank("a"), rank("b"))).toMatchObject({ offset: 995, by });
  expect(apart(overview, clock, rank("a"), rank("c"))).toMatchObject({ offset: -5, by });
});

it("puts the first step that both have beside each other where no clock is known", () => {
  const a = rank("a", { "3": 100, "4": 200 });
  const b = rank("b", { "4": 7, "5": 90 });
  expect(apart(null, null, a, b)).toEqual({ offset: 193, by: "step", step: "4" });
  expect(apart(null, null, a, rank("c", { "9": 1 }))).toMatchObject({ offset: 0, by: "start" });
});
