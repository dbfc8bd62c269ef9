import { expect, it } from "vitest";
import { instancesOf, nextInstance, pickedInstance } from "./findingInstances";

const instance = (row: number, start_ns: number) => ({
  ...{ row, name: `event ${row}`, start_ns, duration_ns: 5, step: "2" },
});
const [EARLY, LATE] = [instance(3, 100), instance(9, 500)];
const finding = (key: string, instances: (typeof EARLY)[]) => ({
  ...{ id: "rule", key, title: `Title of ${key}`, values: {}, instances, count: 7 },
});
const OVERVIEW = { findings: [finding("rule", [LATE, EARLY]), finding("rule 2", [])] };

it("has the instances of a finding in order of time, by its key", () => {
  expect(instancesOf(OVERVIEW, "rule")).toEqual({
    ...{ title: "Title of rule", instances: [EARLY, LATE], count: 7 },
  });
  expect(instancesOf(OVERVIEW, "rule 2")?.instances).toEqual([]);
  expect(instancesOf(OVERVIEW, "moon")).toBeNull();
});

it("goes from one to the next, from the one that is looked at or into the picture", () => {
  const instances = [EARLY, LATE];
  const all = { start: 0, end: 1_000 };
  expect(nextInstance(instances, -1, all, 1)).toBe(0);
  expect(nextInstance(instances, -1, all, -1)).toBe(1);
  expect(nextInstance(instances, -1, { start: 300, end: 400 }, 1)).toBe(1);
  expect(nextInstance(instances, -1, { start: 300, end: 400 }, -1)).toBe(0);
  expect(nextInstance(instances, -1, { start: 600, end: 700 }, 1)).toBe(1);
  expect(nextInstance(instances, -1, { start: 0, end: 50 }, -1)).toBe(0);
  expect(nextInstance(instances, 0, all, 1)).toBe(1);
  expect(nextInstance(instances, 1, all, 1)).toBe(1);
  expect(nextInstance(instances, 0, all, -1)).toBe(0);
  expect(nextInstance([], -1, all, 1)).toBe(-1);
});

it("picks the event of an instance, in times of the page", () => {
  expect(pickedInstance("a", 1_000, LATE)).toEqual({
    ...{ worker: "a", row: 9, lane: -1, start: 1_500, duration: 5 },
  });
});
