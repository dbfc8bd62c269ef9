import { describe, expect, it } from "vitest";
import type { RunStatus, TraceState, TraceStatus } from "../api";
import { matching, move } from "./options";
import { fileRows, summarise } from "./progress";
import { actionFor } from "./shortcuts";

function trace(state: TraceState, done: number, total: number): TraceStatus {
  return {
    worker: "w0",
    span: "1",
    file: `${state}.json`,
    size: total,
    state,
    bytes_done: done,
    bytes_total: total,
    events: null,
    reason: null,
    notes: 0,
    views: [],
  };
}

const RUN: RunStatus = {
  name: "a",
  state: "loading",
  traces: [
    trace("ready", 5, 5),
    trace("loading", 30, 60),
    trace("queued", 0, 40),
    trace("failed", 0, 9),
  ],
  skipped: [{ file: "x.json", reason: "is not a trace", unlisted: false }],
};

describe("progress", () => {
  it("counts the bytes of what is still to be read", () => {
    const status = { version: "1", logdir: "d", scanning: false, error: null, runs: [RUN] };
    expect(summarise(status)).toEqual({
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
      fileRows({ runs: [RUN], skipped: [{ file: "y.json", reason: "no", unlisted: false }] }).map(
        (row) => row.state,
      ),
    ).toEqual(["failed", "skipped", "skipped", "loading", "queued", "ready"]);
  });

  it("tells directories that cannot be listed from files that are no traces", () => {
    const skipped = [{ file: "s3://b", reason: "cannot be listed", unlisted: true }];
    const status = {
      version: "1",
      logdir: "d",
      scanning: false,
      error: null,
      runs: [RUN],
      skipped,
    };
    expect(summarise(status)).toMatchObject({ unlisted: 1, skipped: 1 });
    expect(fileRows(status)[0]).toMatchObject({ file: "s3://b", state: "unlisted" });
  });
});

describe("combo box", () => {
  const options = ["rank 1", "rank 10", "Rank 2"].map((label) => ({ value: label, label }));

  it("matches all words in any case", () => {
    expect(matching(options, "1 RANK").map((o) => o.label)).toEqual(["rank 1", "rank 10"]);
    expect(matching(options, " ")).toHaveLength(3);
  });

  it("moves around the list", () => {
    expect(move("ArrowDown", 2, 3)).toBe(0);
    expect(move("ArrowUp", 0, 3)).toBe(2);
    expect(move("PageDown", 0, 3)).toBe(2);
    expect(move("x", 0, 3)).toBeNull();
    expect(move("End", 0, 0)).toBeNull();
  });
});

describe("keys", () => {
  const press = (key: string, ctrlKey = false, jumping = false) =>
    actionFor({ key, ctrlKey, metaKey: false, altKey: false }, jumping);

  it("have a meaning only alone", () => {
    expect(press("2")).toEqual({ type: "view", view: "steps" });
    expect(press("2", true)).toBeNull();
    expect(press("?")).toEqual({ type: "help" });
    expect(press("Escape")).toEqual({ type: "clear" });
    expect(press("q")).toBeNull();
    expect(press("o")).toBeNull();
  });

  it("go to a view by its letter after g", () => {
    expect(press("g")).toEqual({ type: "jump" });
    expect(press("o", false, true)).toEqual({ type: "view", view: "overview" });
    expect(press("V", false, true)).toEqual({ type: "view", view: "compare" });
    expect(press("o", true, true)).toBeNull();
    expect(press("?", false, true)).toEqual({ type: "help" });
  });

  it("open the palette together with Ctrl or Cmd", () => {
    expect(press("k", true)).toEqual({ type: "palette" });
    expect(actionFor({ key: "k", ctrlKey: false, metaKey: true, altKey: false })).toEqual({
      type: "palette",
    });
    expect(press("k")).toBeNull();
  });
});
