import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Lru } from "./lru";
import { TileRoom } from "./room";
import { TileStore } from "./store";

const none = () => false;

describe("what was used last is kept", () => {
  it("up to a weight", () => {
    const kept = new Lru<string>();
    kept.set("a", "A", 4);
    kept.set("b", "B", 4);
    expect(kept.get("a")).toBe("A");
    kept.set("c", "C", 4);
    kept.shrink(10, none);
    expect(kept.get("b")).toBeUndefined();
    expect([kept.get("a"), kept.get("c"), kept.weight]).toEqual(["A", "C", 8]);
  });

  it("and what must stay, however heavy; its weight counts once", () => {
    const kept = new Lru<string>();
    kept.set("whale", "W", 99);
    kept.set("a", "A", 3);
    kept.shrink(10, (key) => key === "whale");
    expect([kept.get("a"), kept.get("whale"), kept.weight]).toEqual([undefined, "W", 99]);
    kept.set("whale", "w", 5);
    expect(kept.weight).toBe(5);
  });
});

describe("tiles", () => {
  const asked: {
    key: string;
    signal: AbortSignal;
    give: (tile: string) => void;
    fail: (why: Error) => void;
  }[] = [];
  const onChange = vi.fn();
  const make = (room = new TileRoom<string>(100)) =>
    new TileStore<{ key: string }, string>({
      load: ({ key }, signal) =>
        new Promise((give, fail) => {
          asked.push({ key, signal, give, fail });
        }),
      weigh: (tile) => tile.length,
      room,
      onChange,
      most: 2,
    });
  const keys = (...names: string[]) => names.map((key) => ({ key }));
  const settled = () => vi.advanceTimersByTimeAsync(0);

  beforeEach(() => {
    vi.useFakeTimers();
    asked.length = 0;
    onChange.mockClear();
  });
  afterEach(() => void vi.useRealTimers());

  it("are asked for once, the most urgent first, a few at a time", async () => {
    const store = make();
    store.want(keys("a", "b", "c"));
    store.want(keys("a", "b", "c"));
    expect(asked.map(({ key }) => key)).toEqual(["a", "b"]);
    expect(store.missing).toBe(3);
    asked[0]?.give("A");
    await settled();
    expect(store.get("a")).toBe("A");
    expect(onChange).toHaveBeenCalledTimes(1);
    expect(asked.map(({ key }) => key)).toEqual(["a", "b", "c"]);
    store.want(keys("a"));
    expect(store.missing).toBe(0);
    expect(asked).toHaveLength(3);
  });

  it("that are no longer wanted are given up, and make room at once", () => {
    const store = make();
    store.want(keys("a", "b"));
    store.want(keys("c", "b"));
    expect(asked.map(({ key, signal }) => [key, signal.aborted])).toEqual([
      ["a", true],
      ["b", false],
      ["c", false],
    ]);
  });

  it("that come although they were given up are kept and disturb nothing", async () => {
    const store = make();
    store.want(keys("a"));
    store.want(keys("b"));
    asked[0]?.give("A");
    asked[1]?.give("B");
    await settled();
    expect([store.get("a"), store.get("b"), store.missing]).toEqual(["A", "B", 0]);
  });

  it("that failed are said to have, and are asked for again after a while or on request", async () => {
    const store = make();
    store.want(keys("a"));
    asked[0]?.fail(new Error("no"));
    await settled();
    expect(store.failure).toEqual(new Error("no"));
    store.want(keys("a"));
    expect(asked).toHaveLength(1);
    vi.advanceTimersByTime(5_000);
    store.want(keys("a"));
    expect(asked).toHaveLength(2);
    asked[1]?.fail(new Error("again"));
    await settled();
    store.retry();
    store.want(keys("a"));
    expect([asked.length, store.failure]).toEqual([3, null]);
    asked[2]?.give("A");
    await settled();
    expect(store.get("a")).toBe("A");
  });

  it("that were given up have not failed", async () => {
    const store = make();
    store.want(keys("a"));
    store.want([]);
    asked[0]?.fail(new DOMException("aborted", "AbortError"));
    await settled();
    expect(store.failure).toBeNull();
  });

  it("are dropped after it is closed", async () => {
    const store = make();
    store.want(keys("a"));
    store.close();
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[0]?.give("A");
    await settled();
    expect([store.get("a"), onChange.mock.calls.length]).toEqual([undefined, 0]);
  });

  describe("that are more than the limit", () => {
    const heavy = "x".repeat(60);
    /** Frames of the same picture: every one wants the same, and everything asked for comes. */
    const frames = async (store: ReturnType<typeof make>, seen: string[], ahead: string[] = []) => {
      for (let frame = 0; frame < 20; frame++) {
        store.want(keys(...seen), keys(...ahead));
        for (const { give } of asked) give(heavy);
        await settled();
      }
    };

    it("are not asked for again and again: those in sight stay, and the rest is said to be left out", async () => {
      const store = make();
      await frames(store, ["a", "b", "c", "d", "e"]);
      // The third was under way when the second reached the limit.
      expect(asked.map(({ key }) => key)).toEqual(["a", "b", "c"]);
      for (const key of ["a", "b", "c"]) expect(store.get(key)).toBe(heavy);
      expect([store.missing, store.leftOut]).toEqual([0, 2]);
      await frames(store, ["d"]);
      expect([store.get("d"), store.get("a"), store.leftOut]).toEqual([heavy, undefined, 0]);
    });

    it("give way to those in sight when they are only around them", async () => {
      const store = make();
      await frames(store, ["a"], ["b", "c", "d"]);
      expect(asked.map(({ key }) => key)).toEqual(["a", "b", "c"]);
      await frames(store, ["e", "a"], ["b", "c"]);
      expect(asked.map(({ key }) => key)).toEqual(["a", "b", "c", "e"]);
      expect([store.get("a"), store.get("e"), store.get("b")]).toEqual([heavy, heavy, undefined]);
      expect([store.missing, store.leftOut]).toEqual([0, 0]);
    });

    it("are counted for all stores that share the memory, and follow when another makes room", async () => {
      const room = new TileRoom<string>(100);
      const stores = Array.from({ length: 8 }, () => make(room));
      for (let frame = 0; frame < 5; frame++) {
        for (const [at, store] of stores.entries()) {
          store.want(keys(`a${at}`, `b${at}`));
          for (const { give } of asked) give(heavy);
          await settled();
        }
      }
      // The limit, and what was under way when it was reached.
      expect(room.weight).toBeLessThanOrEqual(100 + 2 * 60);
      const [first, , , , , , , last] = stores;
      expect(last?.get("b7")).toBeUndefined();
      expect(last?.leftOut).toBeGreaterThan(0);
      for (const store of stores.slice(0, -1)) store.want([]);
      for (let frame = 0; frame < 5; frame++) {
        for (const { give } of asked) give(heavy);
        await settled();
      }
      expect([last?.get("b7"), last?.leftOut]).toEqual([heavy, 0]);
      first?.close();
      for (const store of stores) store.close();
      expect(room.weight).toBe(0);
    });
  });
});
