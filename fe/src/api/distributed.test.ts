import { expect, it } from "vitest";
import { hasNoRanks } from "./distributed";
import type { Status } from "./types";

type Listed = [span: string, state: string, views: string[]];

function status(...traces: Listed[]): Status {
  const listed = traces.map(([span, state, views]) => ({ span, state, views }));
  return { runs: [{ name: "run", traces: listed }] } as unknown as Status;
}

it("asks nothing where all traces of the span are read and none communicated", () => {
  const alone: Listed = ["1", "ready", ["overview"]];
  expect(hasNoRanks(status(alone), "run", "1")).toBe(true);
  expect(hasNoRanks(status(alone, ["1", "failed", []]), "run", "1")).toBe(true);
  expect(hasNoRanks(status(alone, ["2", "ready", ["distributed"]]), "run", "1")).toBe(true);
});

it("asks while it is not known", () => {
  expect(hasNoRanks(status(["1", "ready", ["distributed"]]), "run", "1")).toBe(false);
  expect(hasNoRanks(status(["1", "ready", []], ["1", "loading", []]), "run", "1")).toBe(false);
  expect(hasNoRanks(status(["1", "failed", []]), "run", "1")).toBe(false);
  expect(hasNoRanks(undefined, "run", "1")).toBe(false);
  expect(hasNoRanks(status(), "other", "1")).toBe(false);
});
