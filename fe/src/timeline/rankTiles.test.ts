import { expect, it } from "vitest";
import type { TimelineMeta } from "../api";
import { metaOf, TRACK_TEXTS } from "./cases";
import { RankTiles } from "./rankTiles";
import { tracksOf } from "./tracks";

const OFFSET = 1_000;

function rank(more: Partial<TimelineMeta>): RankTiles {
  const meta = metaOf(more);
  const key = { run: "r", worker: "a", span: "1", v: "1" };
  return new RankTiles(key, meta, OFFSET, tracksOf("a", "a", meta, TRACK_TEXTS));
}

it("knows when something ran, beside when the profiler noted something about itself", () => {
  const [first] = metaOf().tracks;
  if (!first) throw new Error("a process");
  const process = (begin_ns: number, end_ns: number) => ({ ...first, begin_ns, end_ns });
  const windowEnd = { ...first, kind: "other" as const, begin_ns: 90_000, end_ns: 90_000 };
  const ran = rank({
    end_ns: 90_000,
    tracks: [process(2_000, 30_000), process(500, 20_000), windowEnd],
  });
  expect(ran.whole).toEqual({ start: OFFSET, end: OFFSET + 90_000 });
  expect(ran.work).toEqual({ start: OFFSET + 500, end: OFFSET + 30_000 });
  const nothing = rank({ end_ns: 90_000, tracks: [windowEnd] });
  expect(nothing.work).toEqual(nothing.whole);
});
