import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Range } from "./range";
import { Columns } from "./StackedColumns";
import type { ColumnsProps } from "./types";

beforeAll(() => {
  // A DOM without layout has no sizes and draws nothing.
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(678);
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  HTMLElement.prototype.setPointerCapture = () => {};
});
afterAll(() => Reflect.deleteProperty(HTMLElement.prototype, "setPointerCapture"));
afterEach(cleanup);

const names = (n: number) => Array.from({ length: n }, (_, i) => `s${i}`);

function Harness({ items, onPick = () => {}, ...more }: { items: number } & Partial<ColumnsProps>) {
  const [range, setRange] = useState<Range | null>(null);
  return (
    <Columns
      title="Times"
      unit="ns"
      xLabel="Step"
      what="steps"
      names={names(items)}
      series={[{ key: "a", label: "A", color: "red", values: names(items).map((_, i) => i + 1) }]}
      mode="absolute"
      order={names(items).map((_, i) => i)}
      range={range}
      onRange={setRange}
      selected={null}
      onPick={onPick}
      {...more}
    />
  );
}

const slider = () => screen.getByRole("slider", { name: "Times" });
const picture = () => screen.getByRole("img", { name: /^Times: / });
const value = () => slider().getAttribute("aria-valuetext");

describe("by keyboard", () => {
  it("goes from column to column and picks one", () => {
    const onPick = vi.fn();
    render(<Harness items={5} onPick={onPick} />);
    expect(value()).toBe("Step s0: 1 ns, A 1 ns");
    fireEvent.keyDown(slider(), { key: "ArrowRight" });
    fireEvent.keyDown(slider(), { key: "ArrowRight" });
    expect(value()).toBe("Step s2: 3 ns, A 3 ns");
    fireEvent.keyDown(slider(), { key: "Enter" });
    expect(onPick).toHaveBeenCalledWith(2);
    fireEvent.keyDown(slider(), { key: "End" });
    expect(slider().getAttribute("aria-valuenow")).toBe("5");
    fireEvent.keyDown(slider(), { key: "Home" });
    expect(value()).toContain("s0");
  });

  it("opens a merged column, moves on at the edge, and shows all again", () => {
    const onPick = vi.fn();
    render(<Harness items={3000} onPick={onPick} />);
    // 600 pixels have room for 150 columns of 20.
    expect(slider().getAttribute("aria-valuemax")).toBe("150");
    expect(value()).toContain("s0 … s19: 10.5 ns, mean of 20 steps");
    expect(value()).toContain("Shortest 1 ns, Longest 20 ns");
    fireEvent.keyDown(slider(), { key: "Enter" });
    expect(onPick).not.toHaveBeenCalled();
    expect(screen.getByText("1–20 of 3,000")).toBeTruthy();
    fireEvent.keyDown(slider(), { key: "End" });
    fireEvent.keyDown(slider(), { key: "ArrowRight" });
    expect(screen.getByText("2–21 of 3,000")).toBeTruthy();
    expect(value()).toContain("s20");
    fireEvent.keyDown(slider(), { key: "Enter" });
    expect(onPick).toHaveBeenCalledWith(20);
    fireEvent.keyDown(slider(), { key: "0" });
    expect(screen.queryByText(/ of 3,000/)).toBeNull();
  });
});

describe("by pointer", () => {
  const at = (x: number) => ({ button: 0, pointerId: 1, clientX: x });

  it("picks what is clicked", () => {
    const onPick = vi.fn();
    render(<Harness items={6} onPick={onPick} />);
    fireEvent.pointerDown(picture(), at(68 + 250));
    fireEvent.pointerUp(picture(), at(68 + 250));
    fireEvent.click(picture(), at(68 + 250));
    expect(onPick).toHaveBeenCalledExactlyOnceWith(2);
    // The keys go on from there.
    fireEvent.keyDown(slider(), { key: "ArrowRight" });
    expect(value()).toContain("s3");
  });

  it("zooms into what is dragged over, and out again", () => {
    render(<Harness items={60} />);
    fireEvent.pointerDown(picture(), at(68 + 105));
    fireEvent.pointerMove(picture(), at(68 + 295));
    fireEvent.pointerUp(picture(), at(68 + 295));
    // The browser makes a click of it, which picks nothing.
    fireEvent.click(picture(), at(68 + 295));
    expect(screen.getByText("11–30 of 60")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Zoom in" }));
    expect(screen.getByText("16–25 of 60")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(screen.queryByText(/ of 60/)).toBeNull();
  });

  it("zooms up to where it is released, also when the way there has not been drawn", () => {
    render(<Harness items={60} />);
    fireEvent.pointerDown(picture(), at(68 + 105));
    fireEvent.pointerMove(picture(), at(68 + 200));
    fireEvent.pointerUp(picture(), at(68 + 295));
    expect(screen.getByText("11–30 of 60")).toBeTruthy();
  });
});

it("says what was not recorded", () => {
  const series = [{ key: "a", label: "A", color: "red", values: [null, 5] }];
  render(<Harness items={2} series={series} />);
  expect(value()).toBe("Step s0: not recorded");
});

it("shows names as text", () => {
  render(<Harness items={1} names={["<img src=x>"]} />);
  fireEvent.pointerMove(picture(), { clientX: 300, pointerId: 1 });
  expect(screen.getByText("Step <img src=x>: 1 ns")).toBeTruthy();
  expect(document.querySelector("img")).toBeNull();
});

describe("as a table", () => {
  const rows = () =>
    screen.getAllByRole("row").map((row) => Array.from(row.children, (cell) => cell.textContent));

  it("has a row for each column of the picture, which is picked like it", () => {
    const onPick = vi.fn();
    render(<Harness items={3} onPick={onPick} />);
    fireEvent.click(screen.getByRole("button", { name: "Show as table" }));
    expect(rows()).toEqual([
      ["Step", "Total", "A"],
      ["s0", "1 ns", "1 ns"],
      ["s1", "2 ns", "2 ns"],
      ["s2", "3 ns", "3 ns"],
    ]);
    expect(screen.queryByRole("slider")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "s1" }));
    expect(onPick).toHaveBeenCalledWith(1);
    fireEvent.click(screen.getByRole("button", { name: "Show as chart" }));
    expect(screen.queryByRole("table")).toBeNull();
    expect(slider()).toBeTruthy();
  });

  it("says which items share a row, and what was not recorded", () => {
    const values = names(1200).map((_, i) => (i < 600 ? i : null));
    render(<Harness items={1200} series={[{ key: "a", label: "A", color: "red", values }]} />);
    fireEvent.click(screen.getByRole("button", { name: "Show as table" }));
    const found = rows().slice(1);
    expect(found[0]?.[0]).toMatch(/^s0 … s\d+$/);
    expect(found.at(-1)?.[1]).toBe("not recorded");
    expect(found.length).toBeLessThan(300);
  });
});
