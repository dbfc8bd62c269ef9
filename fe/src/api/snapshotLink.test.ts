import { expect, it } from "vitest";
import { traceStatus } from "./cases";
import { partnerOf } from "./snapshotLink";
import type { RunStatus, TraceStatus } from "./types";

const run = (...traces: TraceStatus[]) => ({ name: "r", traces }) as unknown as RunStatus;
const file = (kind: "snapshot" | "trace", rank: number | null, more: Partial<TraceStatus> = {}) =>
  traceStatus({ kind, rank, state: "ready", worker: `${kind}${rank}`, ...more });

it("finds the file of the same rank and of the other kind", () => {
  const [trace, snapshot] = [file("trace", 1), file("snapshot", 1)];
  const all = run(file("trace", 0), trace, file("snapshot", 0), snapshot);
  expect(partnerOf(all, trace)).toBe(snapshot);
  expect(partnerOf(all, snapshot)).toBe(trace);
});

it("takes the same moment where a rank has several", () => {
  const trace = file("trace", 0, { span: "b" });
  const later = file("snapshot", 0, { span: "b" });
  expect(partnerOf(run(trace, file("snapshot", 0, { span: "a" }), later), trace)).toBe(later);
});

it("does not guess", () => {
  const [trace, snapshot] = [file("trace", 0), file("snapshot", null)];
  expect(partnerOf(run(trace, snapshot), trace)).toBe(snapshot);
  expect(partnerOf(run(trace, file("trace", 1), snapshot), trace)).toBeNull();
  expect(partnerOf(run(trace, file("snapshot", 0, { state: "loading" })), trace)).toBeNull();
  expect(partnerOf(run(trace), trace)).toBeNull();
  expect(partnerOf(null, trace)).toBeNull();
});
