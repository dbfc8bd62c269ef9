import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StepRange } from "../../state";
import { StepBrush } from "./StepBrush";

const STEPS = {
  names: Array.from({ length: 10 }, (_, at) => String(at + 5)),
  duration_ns: Array.from({ length: 10 }, (_, at) => 1_000_000 * (at + 1)),
};
const onChange = vi.fn();

beforeEach(() => {
  onChange.mockReset();
  vi.useFakeTimers();
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(100);
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockReturnValue({
    left: 0,
    width: 100,
  } as DOMRect);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function show(range: StepRange | null = null) {
  render(<StepBrush steps={STEPS} range={range} onChange={onChange} />);
  const first = screen.getByRole("slider", { name: "First step" });
  const last = screen.getByRole("slider", { name: "Last step" });
  const strip = first.parentElement as HTMLElement;
  strip.setPointerCapture = () => {};
  const drag = (...places: number[]) => {
    const [from = 0, ...rest] = places;
    fireEvent.pointerDown(strip, { button: 0, clientX: from });
    for (const clientX of rest) fireEvent.pointerMove(strip, { clientX });
    fireEvent.pointerUp(strip, { clientX: rest.at(-1) ?? from });
  };
  return { first, last, strip, drag };
}

describe("the thumbs", () => {
  it("say where they are and how far they may go", () => {
    const { first, last } = show({ first: 2, last: 4 });
    expect(first.getAttribute("aria-valuenow")).toBe("3");
    expect(first.getAttribute("aria-valuemax")).toBe("5");
    expect(last.getAttribute("aria-valuenow")).toBe("5");
    expect(last.getAttribute("aria-valuemin")).toBe("3");
    expect(last.getAttribute("aria-valuetext")).toBe("Step 9, 5 ms");
  });

  it("hand over once, when the keys have come to rest", () => {
    const { first } = show();
    fireEvent.keyDown(first, { key: "ArrowRight" });
    fireEvent.keyDown(first, { key: "ArrowRight" });
    expect(first.getAttribute("aria-valuenow")).toBe("3");
    expect(onChange).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);
    expect(onChange).toHaveBeenCalledExactlyOnceWith({ first: 2, last: 9 });
  });

  it("hand over when the focus leaves", () => {
    const { last } = show();
    fireEvent.keyDown(last, { key: "Home" });
    fireEvent.blur(last);
    expect(onChange).toHaveBeenCalledExactlyOnceWith({ first: 0, last: 0 });
  });

  it("take the range back", () => {
    const { first } = show({ first: 2, last: 4 });
    fireEvent.keyDown(first, { key: "Delete" });
    expect(onChange).toHaveBeenCalledExactlyOnceWith(null);
  });
});

describe("the pointer", () => {
  it("chooses by dragging, in one go", () => {
    const { drag } = show();
    drag(35, 50, 65);
    expect(onChange).toHaveBeenCalledExactlyOnceWith({ first: 3, last: 6 });
  });

  it("chooses one step by a click, also inside the range", () => {
    show().drag(35);
    expect(onChange).toHaveBeenLastCalledWith({ first: 3, last: 3 });
    cleanup();
    show({ first: 2, last: 6 }).drag(45);
    expect(onChange).toHaveBeenLastCalledWith({ first: 4, last: 4 });
  });

  it("moves the range and its ends", () => {
    show({ first: 2, last: 4 }).drag(35, 55);
    expect(onChange).toHaveBeenLastCalledWith({ first: 4, last: 6 });
    cleanup();
    show({ first: 2, last: 4 }).drag(50, 81);
    expect(onChange).toHaveBeenLastCalledWith({ first: 2, last: 7 });
  });

  it("chooses up to where it is released, also when the way there has not been drawn", () => {
    const { strip } = show();
    fireEvent.pointerDown(strip, { button: 0, clientX: 35 });
    fireEvent.pointerMove(strip, { clientX: 50 });
    fireEvent.pointerUp(strip, { clientX: 65 });
    expect(onChange).toHaveBeenCalledExactlyOnceWith({ first: 3, last: 6 });
  });

  it("leaves an end where it is when it only presses near it", () => {
    const onEnd = show({ first: 2, last: 4 });
    onEnd.drag(44.5);
    expect(onChange).toHaveBeenCalledExactlyOnceWith({ first: 2, last: 4 });
  });

  it("means no range when all are chosen", () => {
    show().drag(8, 99);
    expect(onChange).toHaveBeenCalledExactlyOnceWith(null);
  });
});
