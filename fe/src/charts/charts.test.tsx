import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { Donut, HBars, PairedBars, StackedBars } from ".";

const NASTY = "<img src=x onerror=alert(1)>{a|b}";

beforeAll(() => {
  // A DOM without layout has no sizes and draws nothing.
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(678);
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
});
const onPick = vi.fn();
beforeEach(() => void vi.clearAllMocks());
afterEach(cleanup);

const keys = () => screen.getByRole("slider");
const said = () => keys().getAttribute("aria-valuetext");
const press = (key: string) => fireEvent.keyDown(keys(), { key });
const tip = () => document.querySelector(".chart-tip")?.textContent ?? null;

describe("stacked bars", () => {
  const show = (mode: "absolute" | "percent" = "absolute") =>
    render(
      <StackedBars
        title="Steps"
        unit="ns"
        x={["1", "2"]}
        xLabel="Step"
        mode={mode}
        series={[
          { key: "kernel", label: "Kernel", values: [30, 10], color: "var(--cat-kernel)" },
          { key: "other", label: NASTY, values: [10, 0] },
        ]}
      />,
    );
  const cells = () => screen.getAllByRole("row").map((row) => row.textContent);

  it("have a summary, and the numbers as a table: values, or shares of each column", () => {
    show();
    expect(screen.getByRole("img").getAttribute("aria-label")).toMatch(/^Steps: Kernel 40 ns/);
    fireEvent.click(screen.getByRole("button", { name: "Show as table" }));
    expect(cells().slice(1)).toEqual(["140 ns30 ns10 ns", "210 ns10 ns0 ns"]);
    cleanup();
    show("percent");
    fireEvent.click(screen.getByRole("button", { name: "Show as table" }));
    expect(cells().slice(1)).toEqual(["140 ns75.0 %25.0 %", "210 ns100.0 %0.0 %"]);
  });

  it("tell each column by pointer, as text", () => {
    show();
    const picture = screen.getByRole("img");
    fireEvent.pointerMove(picture, { clientX: 100, clientY: 50 });
    expect(tip()).toBe(`Step 1: 40 nsKernel30 ns75.0 %${NASTY}10 ns25.0 %`);
    expect(document.querySelector("img")).toBeNull();
    fireEvent.pointerMove(picture, { clientX: 3, clientY: 50 });
    expect(tip()).toBeNull();
  });

  it("tell each column by keyboard", () => {
    show();
    expect(said()).toBe(`Step 1: 40 ns, Kernel 30 ns, ${NASTY} 10 ns`);
    expect(tip()).toBeNull();
    fireEvent.focus(keys());
    expect(tip()).toContain("Step 1");
    press("ArrowRight");
    expect([said(), tip()].every((text) => text?.startsWith("Step 2: 10 ns"))).toBe(true);
    press("ArrowRight");
    expect(keys().getAttribute("aria-valuenow")).toBe("2");
    press("Home");
    expect(keys().getAttribute("aria-valuenow")).toBe("1");
    fireEvent.blur(keys());
    expect(tip()).toBeNull();
  });

  it("hide what the legend is told to", () => {
    show();
    const entry = screen.getByRole("button", { name: "Kernel" });
    expect(entry.getAttribute("aria-pressed")).toBe("true");
    fireEvent.click(entry);
    expect(entry.getAttribute("aria-pressed")).toBe("false");
    fireEvent.click(entry);
    expect(entry.getAttribute("aria-pressed")).toBe("true");
  });
});

describe("bars of a comparison", () => {
  const items = [
    { label: "a", value: 5, before: 8 },
    { label: "b", value: 1 },
  ];

  it("tell what was before, where it is known", () => {
    render(<HBars title="Bars" unit="ns" items={items} total={10} onPick={onPick} />);
    expect(said()).toBe("a, 5 ns, Baseline 8 ns, Change −3 ns");
    press("ArrowDown");
    expect(said()).toBe("b, 1 ns");
    press("Enter");
    expect(onPick).toHaveBeenCalledWith(items[1], 1);
  });

  it("are picked by a click on their row", () => {
    render(<HBars title="Bars" unit="ns" items={items} onPick={onPick} />);
    const picture = screen.getByRole("img");
    fireEvent.pointerMove(picture, { clientX: 20, clientY: 15 });
    expect(tip()).toContain("a5 ns");
    fireEvent.click(picture, { clientX: 20, clientY: 15 });
    expect(onPick).toHaveBeenLastCalledWith(items[0], 0);
    // As a tap does, without a move before.
    fireEvent.click(picture, { clientX: 20, clientY: 40 });
    expect(onPick).toHaveBeenLastCalledWith(items[1], 1);
  });
});

it("picks slices of a donut, but not the rest, and names two of one name apart", () => {
  const slices = [
    { label: "same", value: 3 },
    { label: "same", value: 1 },
    { label: "2 others", value: 1, rest: true },
  ];
  render(<Donut title="Ring" unit="ns" slices={slices} onPick={onPick} />);
  expect(said()).toBe("same, 3 ns");
  press("End");
  press("Enter");
  expect(onPick).not.toHaveBeenCalled();
  press("ArrowLeft");
  press("Enter");
  expect(onPick).toHaveBeenCalledWith(1);
  const legend = screen.getByRole("group", { name: "Colours" });
  const entries = within(legend).getAllByRole("button");
  expect(entries.map(({ textContent }) => textContent)).toEqual([
    "60.0 %same",
    "20.0 %same",
    "20.0 %2 others",
  ]);
  fireEvent.click(entries[1] as HTMLElement);
  expect(entries.map((entry) => entry.getAttribute("aria-pressed"))).toEqual([
    "true",
    "false",
    "true",
  ]);
});

it("tells both sides of a part, and nothing infinite", () => {
  const names = {
    before: "Baseline",
    after: "Experiment",
    beforeSum: "Σ Baseline",
    afterSum: "Σ Experiment",
    difference: "Difference",
    differencePercent: "Difference %",
    accumulated: "Accumulated",
  };
  const items = [
    { label: "loader", before: 100, after: 10 },
    { label: NASTY, details: NASTY, before: 0, after: 30 },
  ];
  const more = { title: "Parts", summary: "Parts", unit: "ns", itemLabel: "Part", names } as const;
  render(<PairedBars {...more} items={items} start={{ before: 5, after: 1000 }} onPick={onPick} />);
  fireEvent.focus(keys());
  expect(tip()).toContain("−90.0 %");
  expect(said()).toContain("Accumulated +905 ns");
  press("ArrowRight");
  expect(tip()).toContain("+30 ns");
  expect(tip()).not.toMatch(/Infinity|NaN/);
  expect(document.querySelector("img")).toBeNull();
  press("Enter");
  expect(onPick).toHaveBeenCalledWith(1);
  // What is only there to be pointed at is not in the legend.
  expect(
    within(screen.getByRole("group", { name: "Colours" })).getAllByRole("button"),
  ).toHaveLength(6);
});
