import { expect, it } from "vitest";
import type { TimelineSearch } from "../../api";
import { densityOfHits, mergeHits, placeAmong } from "./hits";

function answer(starts: number[], count = starts.length, names = ["a"]): TimelineSearch {
  return {
    names: names.map((name, name_id) => ({ name_id, name, count: 1, total_ns: 1, longest_row: 0 })),
    names_total: names.length,
    count,
    total_ns: 1,
    hits: {
      row: starts.map((_, at) => at),
      lane: starts.map(() => 3),
      name_id: starts.map(() => 0),
      start_ns: starts,
      duration_ns: starts.map(() => 5),
    },
    density: { from_ns: 0, to_ns: 100, counts: [starts.length, 0] },
  };
}

const one = { worker: "rank0", offset: 0 };
const other = { worker: "rank1", offset: 100 };

it("puts the hits of all ranks in order of the page's time", () => {
  const hits = mergeHits([
    { rank: one, answer: answer([10, 150], 2, ["a", "b"]) },
    { rank: other, answer: answer([0, 50], 2, ["b", "c"]) },
  ]);
  expect(hits.list.map(({ worker, start }) => [worker, start])).toEqual([
    ["rank0", 10],
    ["rank1", 100],
    ["rank0", 150],
    ["rank1", 150],
  ]);
  expect([hits.count, hits.names, hits.complete]).toEqual([4, 3, Number.POSITIVE_INFINITY]);
  expect(hits.list.map((hit) => placeAmong(hits, hit))).toEqual([0, 1, 2, 3]);
});

it("knows from where on hits of a rank are missing", () => {
  const hits = mergeHits([
    { rank: one, answer: answer([10, 150], 9) },
    { rank: other, answer: answer([0, 70]) },
  ]);
  expect(hits.complete).toBe(150);
  expect(hits.list.map((hit) => placeAmong(hits, hit))).toEqual([0, 1, -1, -1]);
  // Of one rank alone the order is that of the server.
  const alone = mergeHits([{ rank: one, answer: answer([10, 150], 9) }]);
  expect(alone.list.map((hit) => placeAmong(alone, hit))).toEqual([0, 1]);
});

it("adds the densities up over everything that is shown", () => {
  const density = densityOfHits([
    { rank: one, answer: answer([1, 2, 3, 4]) },
    { rank: other, answer: answer([1, 2]) },
  ]);
  expect(density).toEqual({ window: { start: 0, end: 200 }, values: [1, 0.5] });
  expect(densityOfHits([])).toBeNull();
});
