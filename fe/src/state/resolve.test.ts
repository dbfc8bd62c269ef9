import { describe, expect, it } from "vitest";
import type { RunStatus, Status, TraceState, TraceStatus } from "../api";
import { traceStatus } from "../api/cases";
import { resolve } from "./resolve";

const NONE = { run: null, worker: null, span: null };

function trace(worker: string, span: string, state: TraceState = "ready"): TraceStatus {
  return traceStatus({ worker, span, file: `${worker}.${span}.pt.trace.json`, state });
}

function run(name: string, ...traces: TraceStatus[]): RunStatus {
  const ready = traces.filter(({ state }) => state === "ready").length;
  return { name, state: "ready", ready, total: traces.length, traces, skipped: [] };
}

function status(...runs: RunStatus[]): Status {
  return { version: "1", logdir: "d", scanning: false, error: null, why: null, skipped: [], runs };
}

describe("resolve", () => {
  it("takes the first trace that is ready, not the first there is", () => {
    const found = resolve(
      status(
        run("a", trace("w0", "1", "failed")),
        run("b", trace("w0", "1", "queued"), trace("w1", "1")),
      ),
      NONE,
      null,
    );
    expect(found.key).toEqual({ run: "b", worker: "w1", span: "1" });
    expect(found.dropped).toEqual([]);
  });

  it("prefers one that is loading to one that failed", () => {
    const found = resolve(
      status(run("a", trace("w0", "1", "failed")), run("b", trace("w0", "1", "loading"))),
      NONE,
      null,
    );
    expect(found.key?.run).toBe("b");
  });

  it("stays with an automatic choice when an earlier run becomes ready", () => {
    const both = status(run("a", trace("w0", "1")), run("b", trace("w0", "1")));
    const found = resolve(both, NONE, { run: "b", worker: "w0", span: "1" });
    expect(found.key?.run).toBe("b");
  });

  it("shows what is asked for even while it loads", () => {
    const found = resolve(
      status(run("a", trace("w0", "1")), run("b", trace("w0", "1", "loading"))),
      { ...NONE, run: "b" },
      null,
    );
    expect(found.trace?.state).toBe("loading");
  });

  it("says what does not exist and falls back", () => {
    const found = resolve(
      status(run("a", trace("w0", "1"), trace("w0", "2"))),
      { run: "gone", worker: "w9", span: "7" },
      null,
    );
    expect(found.key).toEqual({ run: "a", worker: "w0", span: "1" });
    expect(found.dropped.map(({ kind }) => kind)).toEqual(["run", "worker", "span"]);
  });

  it("keeps worker and span of the previous trace in another run where they exist", () => {
    const two = status(
      run("a", trace("w0", "1"), trace("w1", "1")),
      run("b", trace("w0", "1"), trace("w1", "1"), trace("w1", "2")),
    );
    const found = resolve(two, { ...NONE, run: "b" }, { run: "a", worker: "w1", span: "1" });
    expect(found.key).toEqual({ run: "b", worker: "w1", span: "1" });
  });

  it("finds nothing where there is nothing", () => {
    expect(resolve(status(), NONE, null).key).toBeNull();
    expect(resolve(status(run("a")), NONE, null).key).toBeNull();
  });
});
