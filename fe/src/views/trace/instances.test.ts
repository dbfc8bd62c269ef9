import { expect, it } from "vitest";
import { instancesOf, nextInstance, pickedInstance } from "./instances";

const SENT = [
  { row: 9, start_ns: 500, duration_ns: 5, step: "2", name: "late" },
  { row: null, start_ns: 100, duration_ns: 50, step: null, name: "a gap" },
];
const OVERVIEW = {
  findings: [
    { id: "with", title: "With", instances: SENT },
    { id: "without", title: "Without" },
  ],
};

it("has the instances of a finding in order of time", () => {
  const found = instancesOf(OVERVIEW, "with");
  expect(found?.title).toBe("With");
  expect(found?.instances).toEqual([
    { row: null, start: 100, duration: 50, step: null, name: "a gap" },
    { row: 9, start: 500, duration: 5, step: "2", name: "late" },
  ]);
  expect(instancesOf(OVERVIEW, "without")?.instances).toEqual([]);
  expect(instancesOf(OVERVIEW, "moon")).toBeNull();
});

it("goes from one to the next, from the one that is looked at or from the middle of the picture", () => {
  const { instances } = instancesOf(OVERVIEW, "with") ?? { instances: [] };
  expect(nextInstance(instances, -1, 0, 1)).toBe(0);
  expect(nextInstance(instances, -1, 300, 1)).toBe(1);
  expect(nextInstance(instances, -1, 300, -1)).toBe(0);
  expect(nextInstance(instances, 0, 300, 1)).toBe(1);
  expect(nextInstance(instances, 1, 300, 1)).toBe(1);
  expect(nextInstance(instances, 0, 300, -1)).toBe(0);
  expect(nextInstance([], -1, 0, 1)).toBe(-1);
});

it("picks the event of an instance, if it is one", () => {
  const [gap, late] = instancesOf(OVERVIEW, "with")?.instances ?? [];
  if (!gap || !late) throw new Error("no instances");
  expect(pickedInstance("a", 1_000, gap)).toBeNull();
  expect(pickedInstance("a", 1_000, late)).toEqual({
    ...{ worker: "a", row: 9, lane: -1, start: 1_500, duration: 5 },
  });
});
