import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openReport } from "../api";
import { isLinear, matchNames } from "./matchNames";
import { type PatternAnswer, type PatternQuestion, servePatterns } from "./servePatterns";

const NEVER = new AbortController().signal;

/** A worker in this thread. The one of the test is `latest`. */
class HereWorker {
  static latest: HereWorker | null = null;
  /** What becomes of a question. */
  static serve: (worker: HereWorker) => void = (worker) => servePatterns(worker.scope);

  onmessage: ((event: { data: PatternAnswer }) => void) | null = null;
  onerror: ((event: { message: string }) => void) | null = null;
  ended = false;
  readonly scope = {
    onmessage: null as ((event: { readonly data: PatternQuestion }) => void) | null,
    postMessage: (data: PatternAnswer) => void queueMicrotask(() => this.onmessage?.({ data })),
  };

  constructor(readonly url: string | URL) {
    HereWorker.latest = this;
    queueMicrotask(() => HereWorker.serve(this));
  }

  postMessage(data: PatternQuestion): void {
    queueMicrotask(() => this.scope.onmessage?.({ data }));
  }

  terminate(): void {
    this.ended = true;
  }
}

const serve = HereWorker.serve;

beforeEach(() => void vi.stubGlobal("Worker", HereWorker));

afterEach(() => {
  HereWorker.serve = serve;
  openReport(null);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("matchNames", () => {
  it("finds names in any case, and ends the worker", async () => {
    const found = await matchNames("^a(b|c)+$", ["ABC", "abd", "ac"], NEVER);
    expect([...found]).toEqual(["ABC", "ac"]);
    expect(HereWorker.latest?.ended).toBe(true);
  });

  it("gives up after two seconds, and ends the worker", async () => {
    vi.useFakeTimers();
    HereWorker.serve = (worker) => worker.scope.postMessage(null);
    const found = matchNames("(a|aa)+$", ["a"], NEVER);
    const refused = expect(found).rejects.toThrow("takes too long to match");
    await vi.advanceTimersByTimeAsync(1900);
    expect(HereWorker.latest?.ended).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    await refused;
    expect(HereWorker.latest?.ended).toBe(true);
  });

  it("ends the worker when it is aborted", async () => {
    HereWorker.serve = (worker) => worker.scope.postMessage(null);
    const control = new AbortController();
    const found = matchNames("(a|aa)+$", ["a"], control.signal);
    await Promise.resolve();
    control.abort();
    await expect(found).rejects.toThrow();
    expect(HereWorker.latest?.ended).toBe(true);
  });

  it.each([
    ["has none", () => vi.stubGlobal("Worker", undefined)],
    [
      "allows none",
      () =>
        vi.stubGlobal("Worker", () => {
          throw new Error("SecurityError");
        }),
    ],
    [
      "does not start it",
      () => {
        HereWorker.serve = (worker) => worker.onerror?.({ message: "blocked" });
      },
    ],
  ])("matches what cannot be slow where the browser %s", async (_, arrange) => {
    arrange();
    expect([...(await matchNames("^a|z", ["ab", "b", "z"], NEVER))]).toEqual(["ab", "z"]);
    await expect(matchNames("(a|aa)+$", ["a"], NEVER)).rejects.toThrow("no Web Worker");
  });

  it("makes a worker of a blob in a report, whose text is all it needs", async () => {
    const code: Blob[] = [];
    vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
      code.push(blob as Blob);
      return "blob:1";
    });
    openReport({ made: "", answers: {} });
    await matchNames("a", ["a"], NEVER);
    expect(HereWorker.latest?.url).toBe("blob:1");
    const answers: PatternAnswer[] = [];
    const self = {
      onmessage: null as ((event: { data: PatternQuestion }) => void) | null,
      postMessage: (answer: PatternAnswer) => void answers.push(answer),
    };
    new Function("self", (await code[0]?.text()) ?? "")(self);
    self.onmessage?.({ data: { source: "B", names: ["abc", "x"] } });
    expect(answers).toEqual([null, Uint8Array.of(1, 0)]);
  });
});

describe("isLinear", () => {
  it.each([
    ["^aten::", true],
    ["conv|gemm", true],
    ["[(*+]x", true],
    ["a\\(b\\*", true],
    ["[\\]*]", true],
    ["a.c$", true],
    ["a*", false],
    ["(a|b)c", false],
    ["a{2}", false],
    ["a?", false],
    ["\\\\*", false],
    ["[^]+", false],
  ])("%s: %s", (source, linear) => {
    expect(isLinear(source)).toBe(linear);
  });
});
