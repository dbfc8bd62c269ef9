import { fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { CriticalPath, WhatIf } from "../../api";
import { Answer } from ".";
import { Controls, factorText, labelOf } from "./Controls";
import type { Change } from "./changes";
import { lookAt } from "./Pieces";
import { byResource, bySaving, isTold, madeOf, RESOURCES, seriesOf } from "./parts";
import { refusalText } from "./Quality";
import { resourceTable } from "./Resources";
import { pathTable, Result, stepTable } from "./Result";

afterEach(() => vi.unstubAllGlobals());

type Saved = NonNullable<CriticalPath["resources"][number]["if_free"]>;

function saved(saved_ns: number | null, refused: string | null = null): Saved {
  return { saved_ns, low_ns: null, high_ns: null, bound: true, refused };
}

const PATH: CriticalPath = {
  meta: {
    run: "r",
    worker: "w",
    span: "s",
    device_type: "GPU",
    notes: [],
    explained: 0.9,
    confidence: "normal",
    refused: [],
  },
  steps: {
    names: ["3", "4"],
    start_ns: [0, 100],
    step_ns: [100, 100],
    part_ns: { data: [40, 20], python: [10, 30], operator: [30, 30], compute: [20, 20] },
  },
  total_ns: 200,
  mean_step_ns: 100,
  largest: "host",
  resources: [
    {
      resource: "input",
      parts: ["data"],
      on_path_ns: 60,
      if_free: saved(50),
      if_faster: saved(10),
      next: "host",
      next_share: 0.8,
    },
    {
      resource: "host",
      parts: ["python", "operator"],
      on_path_ns: 100,
      if_free: saved(80),
      if_faster: saved(20),
      next: null,
      next_share: null,
    },
    {
      resource: "sync",
      parts: [],
      on_path_ns: 0,
      if_free: saved(0),
      if_faster: saved(null, "waits"),
      next: null,
      next_share: null,
    },
    {
      resource: "compute",
      parts: ["compute"],
      on_path_ns: 40,
      if_free: saved(null, "lost_work"),
      if_faster: saved(null, "lost_work"),
      next: null,
      next_share: null,
    },
  ],
  operators: [
    {
      name: "aten::mm",
      what: "operator",
      total_ns: 50,
      host_ns: 30,
      device_ns: 20,
      calls: 2,
      all_calls: 4,
      short_name: "mm",
      slack_ns: 0,
    },
  ],
  kernels: [],
  functions: [],
  modules: [],
  columns: [],
};

const WHAT_IF: WhatIf = {
  meta: PATH.meta,
  changes: [
    { text: "data:0", kind: "data", name: null, factor: 0, found: null, refused: null },
    { text: "kernels.no:0", kind: "kernels", name: "no", factor: 0, found: 0, refused: null },
  ],
  notes: [],
  with_waiting: false,
  names: ["3", "4"],
  step_before_ns: [100_000, 100_000],
  step_after_ns: [70_000, 80_000],
  before_ns: 200_000,
  after_ns: 150_000,
  saved: { saved_ns: 50_000, low_ns: 30_000, high_ns: 50_000, bound: true, refused: null },
  parts_before: { data: 60_000, python: 140_000 },
  parts_after: { python: 150_000 },
  limit_before: "host",
  limit_after: "host",
};

describe("the answer in words", () => {
  it("names no part twice without saying what is told of it", () => {
    const resources = PATH.resources.map((each) =>
      each.resource === "input" ? { ...each, if_free: saved(120) } : each,
    );
    const { container } = render(<Answer answer={{ ...PATH, resources }} />);
    expect(container.querySelector("p")?.textContent?.replaceAll("\u00a0", " ").trim()).toBe(
      "If input took no time, a step would be at most 60 ns (60.0 %) shorter; the host would then dominate the critical path " +
        "(80.0 %). Others, each on its own, would save at most: the host 40 ns (40.0 %). " +
        "The largest part of the critical path is the host: 50.0 %.",
    );
  });
});

describe("the path by resource", () => {
  it("adds up to the steps, in the order of the resources", () => {
    const series = seriesOf(PATH.steps);
    expect(series.map(({ key }) => key)).toEqual(["input", "host", "compute"]);
    expect(series.map(({ values }) => values)).toEqual([
      [40, 20],
      [40, 60],
      [20, 20],
    ]);
    const sums = byResource({ data: 1, wake_up: 2, blocking: 3, fixed: 4 });
    expect(RESOURCES.map((each) => sums[each])).toEqual([1, 0, 0, 5, 0, 0, 0, 4]);
  });

  it("tells what there is to tell, of the mean step", () => {
    expect(PATH.resources.map(isTold)).toEqual([true, true, false, true]);
    const { rows } = resourceTable(PATH);
    expect(rows.on_path_ns).toEqual([30, 50, 20]);
    expect(rows.share).toEqual([30, 50, 20]);
    expect(rows.free_ns).toEqual([25, 40, null]);
    expect(rows.faster_share).toEqual([5, 10, null]);
    expect(rows.next?.[1]).toBeNull();
    expect(bySaving(PATH.resources).map(({ resource }) => resource)).toEqual(["host", "input"]);
    const host = PATH.resources[1];
    expect(host && madeOf(host, PATH.steps, 200)).toMatch(/30\.0 %.*20\.0 %/);
  });
});

describe("what is not answered", () => {
  it("has its reason, with the share that decided", () => {
    expect(refusalText({ id: "lost_work", share: 0.25 })).toContain("25 %");
    expect(refusalText({ id: "waits" })).toContain("wait");
    expect(refusalText({ id: "new", text: "The server's words." })).toBe("The server's words.");
  });

  it("is told in place of numbers", () => {
    const text = "50 % of the work begins before its launch: the clocks do not agree.";
    const refused = [{ id: "clocks", scope: "everything" as const, text, share: 0.5 }];
    const meta = { ...PATH.meta, refused };
    const none = { ...WHAT_IF.saved, saved_ns: null, low_ns: null, high_ns: null };
    render(<Result answer={{ ...WHAT_IF, meta, after_ns: null, saved: none }} />);
    expect(screen.getByText(text)).toBeTruthy();
    expect(screen.queryByText("Mean step")).toBeNull();
  });
});

describe("what would be saved", () => {
  it("is told per step, with its interval, and names that nothing has", () => {
    render(<Result answer={WHAT_IF} />);
    expect(screen.getByText("75 µs")).toBeTruthy();
    expect(screen.getByText("Saved per step, at most")).toBeTruthy();
    expect(screen.getByText("between 15 µs and 25 µs")).toBeTruthy();
    expect(screen.getByText(/Not in this trace.*: no\./)).toBeTruthy();
    expect(screen.getByText("Every step")).toBeTruthy();
  });

  it("stands in tables that add up", () => {
    const before = byResource(WHAT_IF.parts_before);
    const after = byResource(WHAT_IF.parts_after ?? {});
    const { rows } = pathTable(["input", "host"], before, after, 2);
    expect(rows.change_ns).toEqual([-30_000, 5_000, -25_000]);
    expect(stepTable(WHAT_IF).rows.change_ns).toEqual([-30_000, -20_000]);
  });
});

describe("the controls", () => {
  function shown(changes: readonly Change[]) {
    const onChange = vi.fn<(changes: readonly Change[]) => void>();
    const { container } = render(<Controls path={PATH} changes={changes} onChange={onChange} />);
    return { onChange, shown: within(container) };
  }

  it("make a change of a moved slider, and none of one that is back", () => {
    const { onChange, shown: page } = shown([{ kind: "python", name: null, factor: 0.5 }]);
    const slider = page.getByRole("slider", { name: "Data loading" });
    expect(slider.getAttribute("aria-valuetext")).toBe("as recorded");
    fireEvent.change(slider, { target: { value: "0.8" } });
    expect(onChange).toHaveBeenLastCalledWith([
      { kind: "python", name: null, factor: 0.5 },
      { kind: "data", name: null, factor: 0.8 },
    ]);
    fireEvent.change(page.getByRole("slider", { name: "Python" }), { target: { value: "1" } });
    expect(onChange).toHaveBeenLastCalledWith([]);
    fireEvent.click(page.getByRole("button", { name: "Reset Python" }));
    expect(onChange).toHaveBeenLastCalledWith([]);
  });

  it("have a switch for what is taken away", () => {
    const { onChange, shown: page } = shown([]);
    fireEvent.click(page.getByRole("switch", { name: "No call waits for the device" }));
    expect(onChange).toHaveBeenLastCalledWith([{ kind: "sync", name: null, factor: null }]);
  });

  it("show what a link has asked for, to be removed", () => {
    const named: Change = { kind: "operator", name: "aten::mm", factor: 3 };
    const { onChange, shown: page } = shown([named, { kind: "host", name: null, factor: 0 }]);
    expect(page.getByRole("slider", { name: "aten::mm" }).getAttribute("max")).toBe("3");
    expect(page.getByRole("slider", { name: "All host time" })).toBeTruthy();
    fireEvent.click(page.getByRole("button", { name: "Remove aten::mm" }));
    expect(onChange).toHaveBeenLastCalledWith([{ kind: "host", name: null, factor: 0 }]);
  });

  it("say what a factor means", () => {
    expect([0, 1, 0.8].map(factorText)).toEqual(["free", "as recorded", "× 0.80"]);
    const none = new Map<string, string>();
    expect(labelOf({ kind: "sync", name: "aten::item" }, none)).toBe("No wait inside aten::item");
    expect(labelOf({ kind: "kernels", name: "void f(int)" }, none)).toBe("f");
  });

  it("have the short names of kernels, and the whole ones on hover", () => {
    const name = "void at::native::elementwise_kernel<128, 2, add_functor<float>>(int, f)";
    const short_name = "elementwise_kernel<add_functor<float>>";
    const kernels = PATH.operators.map((each) => ({
      ...each,
      name,
      short_name,
      what: "kernel" as const,
    }));
    render(
      <Controls
        path={{ ...PATH, kernels }}
        changes={[{ kind: "kernels", name, factor: 0.5 }]}
        onChange={() => {}}
      />,
    );
    expect(screen.getByText(short_name).title).toBe(name);
    expect(screen.queryByText(name)).toBeNull();
  });
});

it("a piece is shown with time around it, its event selected", () => {
  expect(lookAt(7, 5_000, 2_000)).toMatchObject({
    event: { type: "row", worker: null, row: 7 },
    window: { start: 3_000, end: 9_000 },
  });
  expect(lookAt(null, 500, 10)).toMatchObject({ event: null, window: { start: 0, end: 1_510 } });
});
