import { expect, it } from "vitest";
import { formatRecord, parseRecord } from "./record";

it.each([
  ["12", "rank0", { type: "record", position: 12 }],
  ["-1", "rank0", { type: "record", position: -1 }],
  ["t-5000", "rank0", { type: "time", time: -5_000 }],
  ["rank1~12", "rank1", { type: "record", position: 12 }],
  ["a~b~t7", "a~b", { type: "time", time: 7 }],
] as const)("reads %s back as it was written", (text, worker, at) => {
  expect(parseRecord(text, "rank0")).toEqual({ worker, at });
  expect(formatRecord({ worker, at }, "rank0")).toBe(text);
});

it.each(["", "x", "t", "12.5", "99999999999", "~"])("takes %j for nothing", (text) => {
  expect(parseRecord(text, "rank0")).toBeNull();
});
