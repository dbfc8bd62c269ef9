import { describe, expect, it } from "vitest";
import type { TraceState, TraceStatus } from "../api";
import { runStatus as run, statusOf as status, traceStatus } from "../api/cases";
import { newestFirst, resolve } from "./resolve";

const NONE = { run: null, worker: null, span: null };

function trace(worker: string, span: string, state: TraceState = "ready"): TraceStatus {
  return traceStatus({ worker, span, file: `${worker}.${span}.pt.trace.json`, state });
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

  it("takes the newest of the runs that are ready", () => {
    const recorded = (name: string, newest_ms: number | null, state: TraceState = "ready") => ({
      ...run(name, trace("w0", "1", state)),
      newest_ms,
    });
    const runs = [
      recorded("a", 1_000),
      recorded("b", 3_000),
      recorded("c", 2_000),
      recorded("d", null),
      recorded("e", 9_000, "loading"),
    ];
    expect(resolve(status(...runs), NONE, null).key?.run).toBe("b");
    expect(newestFirst(runs).map(({ name }) => name)).toEqual(["e", "b", "c", "a", "d"]);
  });

  it("opens captures only where they are asked for", () => {
    const captures = { ...run("a/capture_traces", trace("g", "1")), newest_ms: 5, parent: "a" };
    const runs = [captures, run("a", trace("w0", "1", "loading"))];
    expect(resolve(status(...runs), NONE, null).key?.run).toBe("a");
    const wanted = { ...NONE, run: "a/capture_traces" };
    expect(resolve(status(...runs), wanted, null).key?.run).toBe("a/capture_traces");
    expect(newestFirst(runs).map(({ name }) => name)).toEqual(["a", "a/capture_traces"]);
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
