import { describe, expect, it } from "vitest";
import type { RunStatus, TraceState, TraceStatus } from "../api";
import { traceStatus } from "../api/cases";
import { fileRows, summarise } from "./progress";

function trace(state: TraceState, done: number, total: number): TraceStatus {
  const file = `${state}.json`;
  return traceStatus({
    file,
    size: total,
    state,
    bytes_done: done,
    bytes_total: total,
    events: null,
  });
}

const RUN: RunStatus = {
  name: "a",
  state: "loading",
  ready: 1,
  total: 4,
  traces: [
    trace("ready", 5, 5),
    trace("loading", 30, 60),
    trace("queued", 0, 40),
    trace("failed", 0, 9),
  ],
  skipped: [{ file: "x.json", reason: "is not a trace", unlisted: false, why: null }],
  dumps: 0,
  newest_ms: null,
  parent: null,
};

const STATUS = {
  version: "1",
  logdir: "d",
  scanning: false,
  error: null,
  why: null,
  runs: [RUN],
};

describe("progress", () => {
  it("counts the bytes of what is still to be read", () => {
    expect(summarise({ ...STATUS, skipped: [] })).toEqual({
      pending: 2,
      bytesDone: 30,
      bytesTotal: 100,
      progress: 0.3,
      failed: 1,
      unlisted: 0,
      skipped: 1,
    });
  });

  it("lists files that need attention first", () => {
    expect(
      fileRows({
        runs: [RUN],
        skipped: [{ file: "y.json", reason: "no", unlisted: false, why: null }],
      }).map((row) => row.state),
    ).toEqual(["failed", "skipped", "skipped", "loading", "queued", "ready"]);
  });

  it("tells directories that cannot be listed from files that are no traces", () => {
    const skipped = [{ file: "s3://b", reason: "cannot be listed", unlisted: true, why: null }];
    const status = { ...STATUS, skipped };
    expect(summarise(status)).toMatchObject({ unlisted: 1, skipped: 1 });
    expect(fileRows(status)[0]).toMatchObject({ file: "s3://b", state: "unlisted" });
  });
});
