import { expect, it } from "vitest";
import type { TraceStatus } from "../api";
import { findView } from "../state";
import { PICKED_KINDS } from "../state/picked";
import { placesOf } from "./places";
import { hasData } from "./presence";

const TRACE = {
  state: "ready",
  views: ["overview", "operators", "kernels"],
} as unknown as TraceStatus;

it("begins where the thing is a row", () => {
  for (const kind of PICKED_KINDS) {
    const [home] = placesOf({ kind, name: "x" }, null);
    expect(findView(home?.view)?.inspector?.kind).toBe(kind);
  }
});

it("leaves out views without data, and keeps those the server says nothing of", () => {
  const views = placesOf({ kind: "op", name: "aten::mm" }, TRACE).map(({ view }) => view);
  expect(views).toEqual(["operators", "kernels", "trace"]);
  expect(hasData("memory", TRACE)).toBe(false);
  expect(hasData("health", TRACE)).toBe(true);
  expect(hasData("memory", { ...TRACE, state: "loading" })).toBe(true);
});

it("asks for an operator's kernels with a filter that survives quotes", () => {
  const kernels = placesOf({ kind: "op", name: 'a "b"' }, null)[1];
  expect(kernels?.look).toHaveProperty("filter", 'operator="a \\"b\\""');
});

it("opens the timeline at the longest slice, whatever was looked at there before", () => {
  for (const kind of ["op", "kernel"] as const) {
    const trace = placesOf({ kind, name: "a ~,b" }, null).find(({ view }) => view === "trace");
    expect(trace?.look).toEqual({
      event: { type: "longest", name: "a ~,b" },
      window: null,
      search: "",
    });
  }
});

it("looks for a module by the end of its path, without the number in front of which is a sign", () => {
  const looks = placesOf({ kind: "mod", name: "Net_0/Linear#3" }, null).map(({ look }) => look);
  expect(looks).toMatchObject([
    { filter: "" },
    { event: { type: "longest", name: "nn.Module: Linear" } },
    { filter: 'name="Linear"' },
  ]);
});

it.each(PICKED_KINDS)("asks views for a look that they can have: %s", (kind) => {
  for (const { view, look } of placesOf({ kind, name: "a ~,b" }, null))
    for (const [name, value] of Object.entries(look)) {
      const param = findView(view)?.params?.[name];
      expect(param?.parse(param.format(value)), `${view} ${name}`).toEqual(value);
    }
});
