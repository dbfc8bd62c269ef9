import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { Flops } from "../../api";
import { NotKnown } from "./Answer";

afterEach(cleanup);

type Unknown = NonNullable<Flops["coverage"]>["unknown"];

function show(unknown: Unknown) {
  const coverage = { unknown } as NonNullable<Flops["coverage"]>;
  const remedies = { shapes_off: "profile(record_shapes=True)", no_operator: "profile()" };
  render(<NotKnown flops={{ coverage, remedies }} />);
  return screen.queryAllByRole("listitem").map((item) => item.textContent);
}

it("says of each part why it is not known, the largest first, and what would record it", () => {
  const said = show({ weights: 0.25, shapes_off: 0.5 });
  expect(said[0]).toMatch(/^50.0 % of the time: shapes were not recorded profile\(record_shapes/);
  expect(said[1]).toBe("25.0 % of the time: weights are not among the arguments");
});

it("names parts that hardly count together, without what would record them", () => {
  const said = show({ no_operator: 0.0001, shapes_off: 0.001, contents: 0.0009 });
  expect(said).toHaveLength(2);
  expect(said[1]).toBe(
    "Less than 0.1 % of the time each: depends on the contents of tensors: indices, lengths; launched by no operator",
  );
});

it("says of one part that hardly counts what it is", () => {
  expect(show({ weights: 0.0005 })).toEqual([
    "Less than 0.1 % of the time: weights are not among the arguments",
  ]);
});

it("says nothing where all is known", () => {
  expect(show({})).toEqual([]);
  expect(screen.queryByText("Unknown")).toBeNull();
});
