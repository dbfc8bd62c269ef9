import { expect, it } from "vitest";
import type { Phases } from "../../api";
import { phaseSentence } from "./phaseSentence";

const said = (parts: Record<string, number>) =>
  phaseSentence(
    Object.entries(parts).map(([name, ms]) => ({
      name,
      exposed_ns: ms * 1e6,
    })) as Phases["phases"],
  );

it("names the phase that takes most", () => {
  expect(said({ forward: 30, backward: 60, other: 10 })).toBe(
    "Backward takes most of the average step: 60.0 % of 100 ms.",
  );
});

it("does not say most of what is less than half", () => {
  expect(said({ forward: 35, backward: 40, other: 25 })).toBe(
    "Backward takes the largest part of the average step: 40.0 % of 100 ms.",
  );
});

it("does not call the rest a phase", () => {
  expect(said({ forward: 30, other: 70 })).toBe(
    "70.0 % of the average step of 100 ms is in no known phase. Of the phases Forward takes most: 30.0 %.",
  );
  expect(said({ forward: 0, other: 70 })).toBe(
    "No part of the average step (70 ms) could be assigned to a phase.",
  );
  expect(said({ other: 0 })).toBe("");
  expect(said({})).toBe("");
});
