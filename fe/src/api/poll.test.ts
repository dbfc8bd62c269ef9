import { expect, it } from "vitest";
import { IDLE_MS, isBusy, LOADING_MS, LOST_MS, pollDelay } from "./poll";
import type { Status, TraceState } from "./types";

function status(state: TraceState, scanning = false): Status {
  const trace = { state } as Status["runs"][number]["traces"][number];
  const runs = [
    {
      name: "a",
      state: "ready" as const,
      ready: 0,
      total: 1,
      traces: [trace],
      skipped: [],
      dumps: 0,
      newest_ms: null,
      parent: null,
    },
  ];
  return { version: "1", logdir: "d", scanning, error: null, why: null, skipped: [], runs };
}

it("asks often while something happens, seldom otherwise, and keeps asking a lost server", () => {
  expect(pollDelay(undefined, false)).toBe(LOADING_MS);
  expect(pollDelay(status("loading"), false)).toBe(LOADING_MS);
  expect(pollDelay(status("ready"), false)).toBe(IDLE_MS);
  expect(pollDelay(status("ready"), true)).toBe(LOST_MS);
  expect(LOST_MS).toBeLessThanOrEqual(15_000);
});

it("is busy while it scans, queues or loads", () => {
  expect(isBusy(status("queued"))).toBe(true);
  expect(isBusy(status("ready", true))).toBe(true);
  expect(isBusy(status("failed"))).toBe(false);
});
