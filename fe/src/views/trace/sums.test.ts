import { expect, it } from "vitest";
import type { RangeSums } from "../../api";
import { mergeSums } from "./sums";

const device = {
  device: 0,
  busy_ns: 7,
  idle_ns: 3,
  computing_ns: 7,
  communicating_ns: 0,
  exposed_communication_ns: 0,
  memcpy_ns: 0,
};

function sums(names: [string, number, number, number][], more: Partial<RangeSums> = {}): RangeSums {
  return {
    from_ns: 0,
    to_ns: 10,
    slices: 5,
    instants: 1,
    by_name: names.map(([name, count, total_ns, longest_row]) => ({
      name_id: 0,
      name,
      category: "kernel",
      count,
      total_ns,
      longest_row,
    })),
    names_total: names.length,
    rest: { count: 2, total_ns: 4 },
    by_category: [{ category: "kernel", count: 3, total_ns: 30 }],
    devices: [device],
    columns: [],
    device_columns: [],
    ...more,
  };
}

it("adds up by name and category, and keeps devices apart", () => {
  const found = mergeSums([
    {
      worker: "rank0",
      sums: sums([
        ["a", 1, 10, 4],
        ["b", 2, 20, 5],
      ]),
    },
    { worker: "rank1", sums: sums([["a", 3, 30, 9]]) },
  ]);
  expect([found.slices, found.instants, found.rest]).toEqual([10, 2, { count: 4, total_ns: 8 }]);
  expect(found.by_name.map(({ name, count, total_ns }) => [name, count, total_ns])).toEqual([
    ["a", 4, 40],
    ["b", 2, 20],
  ]);
  expect(found.by_name.map(({ worker, longest_row }) => [worker, longest_row])).toEqual([
    ["rank1", 9],
    ["rank0", 5],
  ]);
  expect(found.by_category).toEqual([{ category: "kernel", count: 6, total_ns: 60 }]);
  expect(found.devices.map(({ worker }) => worker)).toEqual(["rank0", "rank1"]);
});

it("keeps the order of the server, whatever a rank has", () => {
  const of = (categories: readonly string[]) =>
    sums([], {
      by_category: categories.map((category) => ({ category, count: 1, total_ns: 1 })),
      by_name: categories.map((category, at) => ({
        ...{ name_id: 0, name: category, category, count: 1, total_ns: 10 * at, longest_row: 0 },
      })),
    });
  const found = mergeSums([
    { worker: "rank0", sums: of(["kernel", "operator", "python_function"]) },
    { worker: "rank1", sums: of(["kernel", "memcpy", "operator", "runtime", "python_function"]) },
  ]);
  const order = ["kernel", "memcpy", "operator", "runtime", "python_function"];
  expect(found.by_category.map(({ category }) => category)).toEqual(order);
  expect(found.by_name.map(({ category }) => category)).toEqual(order);
});
