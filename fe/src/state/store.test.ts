import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { visible } from "../format";
import type { Params } from "../host";
import { type Change, change, name, param, text } from "./address";
import { createParamStore } from "./store";

const VIEW = param("v", name, { isStep: true });
const RUN = param("r", name, { isStep: true });
const FILTER = param("q", text());
const filter = (words: string): Change => change(FILTER, words);

function fakeHost(params: Params) {
  const writes: [Params, boolean][] = [];
  let notify = () => {};
  return {
    writes,
    read: () => params,
    write: (next: Params, push: boolean) => {
      params = next;
      writes.push([next, push]);
    },
    onChange: (callback: () => void) => {
      notify = callback;
      return () => {};
    },
    navigate: (next: Params) => {
      params = next;
      notify();
    },
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("param store", () => {
  it("replaces after a pause, once", () => {
    const host = fakeHost({});
    const store = createParamStore(host);
    store.set(filter("c"));
    store.set(filter("conv"));
    expect(store.get()).toEqual({ q: "conv" });
    expect(host.writes).toEqual([]);
    vi.advanceTimersByTime(300);
    expect(host.writes).toEqual([[{ q: "conv" }, false]]);
  });

  it("pushes a step at once, after what was waiting", () => {
    const host = fakeHost({ v: "operators" });
    const store = createParamStore(host);
    store.set(filter("conv"));
    store.set(change(VIEW, "kernels"), filter(""));
    expect(host.writes).toEqual([
      [{ v: "operators", q: "conv" }, false],
      [{ v: "kernels" }, true],
    ]);
    vi.advanceTimersByTime(300);
    expect(host.writes).toHaveLength(2);
  });

  it("follows Back and forgets what was about to be written", () => {
    const host = fakeHost({ v: "operators" });
    const store = createParamStore(host);
    const listener = vi.fn();
    store.subscribe(listener);
    store.set(filter("conv"));
    host.navigate({});
    expect(store.get()).toEqual({});
    vi.advanceTimersByTime(300);
    expect(host.writes).toEqual([]);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it("ignores a change to what already is", () => {
    const host = fakeHost({ r: "a" });
    const store = createParamStore(host);
    store.set(change(RUN, "a"));
    vi.advanceTimersByTime(300);
    expect(host.writes).toEqual([]);
  });

  it.each(["abc\u202e321", "{U+202E}", "zero\u200bwidth", "\u05e9 {U+}"])(
    "has %j as it is shown, and the address as the file has it",
    (run) => {
      const host = fakeHost({ r: run });
      const store = createParamStore(host);
      const seen = visible(run);
      expect(store.get()).toEqual({ r: seen });
      store.set(change(VIEW, "operators"), change(RUN, seen));
      expect(store.get()).toEqual({ r: seen, v: "operators" });
      expect(host.writes).toEqual([[{ r: run, v: "operators" }, true]]);
      // What a person types is shown as what the server says.
      store.set(filter("a\u202eb"));
      expect(store.get().q).toBe("a{U+202E}b");
    },
  );
});
