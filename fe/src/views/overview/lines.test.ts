import { expect, it } from "vitest";
import type { Overview, RunFindings } from "../../api";
import { linesOf, pinsIn } from "./lines";

type Place = { start_ns: number; duration_ns: number; worker?: string };
const finding = (id: string, severity: string, instances: Place[] = []) => ({
  ...{ id, key: id, severity, instances, title: id, values: {} },
});
const overviewOf = (...findings: unknown[]) =>
  ({ findings, average: { step_ns: 100 } }) as unknown as Overview;
const JOB = {
  step_ns: 200,
  findings: [finding("straggler", "low"), finding("waiting", "high")],
} as unknown as RunFindings;

it("has the most severe first, of equals those over all ranks, and none that is hidden", () => {
  const overview = overviewOf(
    finding("waiting", "high"),
    finding("gone", "high"),
    finding("copies", "medium"),
  );
  const { lines, more } = linesOf(overview, JOB, ["gone"]);
  expect(lines.map(({ key, number }) => [key, number])).toEqual([
    ["run/waiting", 1],
    ["waiting", 2],
    ["copies", 3],
  ]);
  expect(lines.map(({ stepNs }) => stepNs)).toEqual([200, 100, 100]);
  expect(more).toBe(1);
});

it("pins the longest place of each in a stretch of this worker", () => {
  const places = [
    { start_ns: 5, duration_ns: 90 },
    { start_ns: 20, duration_ns: 3 },
    { start_ns: 30, duration_ns: 7 },
  ];
  const elsewhere = [{ start_ns: 20, duration_ns: 9, worker: "rank1" }];
  const overview = overviewOf(finding("a", "low", places), finding("b", "low", elsewhere));
  const { lines } = linesOf(overview, null, []);
  const pins = pinsIn(lines, "rank0", { start: 10, end: 40 });
  expect(pins.map(({ number, place }) => [number, place.start_ns])).toEqual([[1, 30]]);
});
