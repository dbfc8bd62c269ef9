import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Params } from "../host";
import { createParamStore } from "./store";

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
    store.set({ q: "c" });
    store.set({ q: "conv" });
    expect(store.get()).toEqual({ q: "conv" });
    expect(host.writes).toEqual([]);
    vi.advanceTimersByTime(300);
    expect(host.writes).toEqual([[{ q: "conv" }, false]]);
  });

  it("pushes a step at once, after what was waiting", () => {
    const host = fakeHost({ v: "operators" });
    const store = createParamStore(host);
    store.set({ q: "conv" });
    store.set({ v: "kernels", q: null });
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
    store.set({ q: "conv" });
    host.navigate({});
    expect(store.get()).toEqual({});
    vi.advanceTimersByTime(300);
    expect(host.writes).toEqual([]);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it("ignores a change to what already is", () => {
    const host = fakeHost({ r: "a" });
    const store = createParamStore(host);
    store.set({ r: "a" });
    vi.advanceTimersByTime(300);
    expect(host.writes).toEqual([]);
  });
});
