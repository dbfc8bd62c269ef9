import { expect, it } from "vitest";
import { traceStatus } from "./cases";
import { bestOf, partnersOf } from "./snapshotLink";
import type { RunStatus, TraceStatus } from "./types";

const run = (...traces: TraceStatus[]) => ({ name: "r", traces }) as unknown as RunStatus;
const file = (kind: "snapshot" | "trace", rank: number | null, more: Partial<TraceStatus> = {}) =>
  traceStatus({ kind, rank, state: "ready", worker: `${kind}${rank}`, ...more });

it("finds the file of the same rank and of the other kind", () => {
  const [trace, snapshot] = [file("trace", 1), file("snapshot", 1)];
  const all = run(file("trace", 0), trace, file("snapshot", 0), snapshot);
  expect(partnersOf(all, trace)).toEqual([snapshot]);
  expect(partnersOf(all, snapshot)).toEqual([trace]);
});

it("puts the same moment first where a rank has several", () => {
  const trace = file("trace", 0, { span: "b" });
  const [earlier, later] = [file("snapshot", 0, { span: "a" }), file("snapshot", 0, { span: "b" })];
  expect(partnersOf(run(trace, earlier, later), trace)).toEqual([later, earlier]);
});

it("asks of no more than a few", () => {
  const trace = file("trace", 0);
  const many = Array.from({ length: 30 }, (_, at) => file("snapshot", 0, { span: String(at) }));
  expect(partnersOf(run(trace, ...many), trace)).toHaveLength(8);
});

it("takes of several linked ones that with most records, and else the first", () => {
  const link = (reason: string, records: number) =>
    ({ answer: { link: { reason, records } } }) as Parameters<typeof bestOf>[0][number];
  const [no, few, many] = [link("other_process", 900), link("linked", 20), link("linked", 30)];
  expect(bestOf([no, few, many], true)).toBe(many);
  expect(bestOf([no, few], false)).toBe(few);
  expect(bestOf([no, link("other_time", 1)], true)).toBe(no);
  // another one may still turn out to be of the process
  expect(bestOf([no], false)).toBeNull();
  expect(bestOf([], true)).toBeNull();
});

it("does not guess", () => {
  const [trace, snapshot] = [file("trace", 0), file("snapshot", null)];
  expect(partnersOf(run(trace, snapshot), trace)).toEqual([snapshot]);
  expect(partnersOf(run(trace, file("trace", 1), snapshot), trace)).toEqual([]);
  expect(partnersOf(run(trace, file("snapshot", 0, { state: "loading" })), trace)).toEqual([]);
  expect(partnersOf(run(trace), trace)).toEqual([]);
  expect(partnersOf(null, trace)).toEqual([]);
});
