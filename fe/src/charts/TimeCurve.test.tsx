import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { bytesAxis } from "../draw";
import { pixelOf, shownSpans, stepPath, timeCurveScene, timeOf } from "./scenes/timeCurve";
import { TimeCurve, type TimeCurveProps } from "./TimeCurve";
import { TimeRange } from "./TimeRange";
import { shapesOf, THEME, textsOf } from "./testTheme";

const NASTY = "<img src=x onerror=alert(1)>";
const window_ = { start: 1000, end: 2000 };
const data = {
  lines: [
    {
      key: "a",
      label: "Allocated",
      color: "blue",
      points: [
        [1000, 1],
        [1500, 3],
        [1500, 2],
        [2000, 2],
      ],
    },
  ],
  window: window_,
  y: bytesAxis(0, 3),
  marks: [{ time: 1500, value: 3, label: "Peak" }],
  spans: [
    { start: 900, end: 1400, label: "one" },
    { start: 1400, end: 2100, label: "two" },
    { start: 2100, end: 2200, label: "three" },
  ],
  cursor: null,
} as const;

const plot = { x: 0, y: 0, width: 1000, height: 300 };

describe("the scene of a curve", () => {
  const drawn = (more = {}) => timeCurveScene({ ...data, ...more }, plot, THEME);
  const lines = (more = {}) => shapesOf(drawn(more), "path").filter(({ fill }) => !fill);
  const marks = (more = {}) => shapesOf(drawn(more), "text").filter(({ bold }) => bold);

  it("draws every point, marks and a cursor that are in sight", () => {
    expect(lines()[0]?.d).toBe("M0 200H0V200H500V0H500V100H1000V100");
    expect([lines().length, marks().length]).toEqual([1, 1]);
    expect(lines({ cursor: 1200 })[1]?.d).toBe("M200 0V300");
    const away = { cursor: 999, window: { start: 1600, end: 1700 } };
    expect([lines(away).length, marks(away).length]).toEqual([1, 0]);
  });

  it("holds a value until the next point, also at the edges of the window", () => {
    const [x, y] = [(time: number) => time, (value: number) => value];
    const path = (...points: [number, number][]) =>
      stepPath(points, { start: 10, end: 20 }, x, y)?.d;
    expect(path([0, 1], [5, 2], [15, 3], [30, 4])).toBe("M10 2H15V3H20");
    expect(path([0, 1], [30, 4])).toBe("M10 1H20");
    expect(path([12, 1], [15, 3])).toBe("M12 1H12V1H15V3");
    // Nothing is known before the first and after the last point.
    expect(path([25, 1], [30, 3])).toBeUndefined();
    expect(path([0, 1], [5, 3])).toBeUndefined();
    expect(path()).toBeUndefined();
  });

  it("names spans in the middle of what is seen of them", () => {
    const texts = shapesOf(drawn(), "text").filter(({ y, bold }) => y < 0 && !bold);
    expect(texts.map(({ text, x }) => [text, x])).toEqual([
      ["one", 200],
      ["two", 700],
    ]);
    const edges = shapesOf(drawn(), "line").filter(({ dashed }) => dashed);
    expect(edges.map(({ x1 }) => x1)).toEqual([400]);
  });

  it("writes no name over another one", () => {
    const spans = [0, 1, 2, 3].map((i) => ({
      start: 1000 + 10 * i,
      end: 1010 + 10 * i,
      label: `a long name ${i}`,
    }));
    expect(textsOf(drawn({ spans })).filter((text) => text.startsWith("a long"))).toEqual([
      "a long name 0",
    ]);
  });

  it("leaves out spans that are too many to tell apart", () => {
    const many = Array.from({ length: 200 }, (_, i) => ({
      start: 1000 + 5 * i,
      end: 1005 + 5 * i,
      label: String(i),
    }));
    expect(shownSpans(many, window_, 800)).toEqual([]);
    expect(shownSpans(many, { start: 1000, end: 1100 }, 800)).toHaveLength(20);
  });
});

it("finds the moment of a pixel and back", () => {
  expect(timeOf(250, window_, 500)).toBe(1500);
  expect(pixelOf(1500, window_, 500)).toBe(250);
  expect(timeOf(-20, window_, 500)).toBe(1000);
  expect(timeOf(900, window_, 500)).toBe(2000);
  expect(timeOf(10, window_, 0)).toBe(1000);
});

const onWindow = vi.fn();
const onCursor = vi.fn();
const onToggle = vi.fn();

function show(props: Partial<TimeCurveProps> = {}) {
  render(
    <TimeCurve
      title="Memory"
      summary="Memory: at most 3 bytes"
      {...data}
      zoomed={false}
      onWindow={onWindow}
      moment={1500}
      onCursor={onCursor}
      readout={(time) => ({
        title: `at ${time}`,
        lines: [{ label: NASTY, value: "2 B", share: "2 bytes" }],
      })}
      legend={[
        { key: "a", label: "Allocated", color: "blue", shown: true },
        { key: "b", label: "Reserved", color: "red", shown: false },
      ]}
      onToggle={onToggle}
      head={["Time", "Allocated"]}
      rows={() => [{ cells: ["1 µs", "1 B"] }]}
      {...props}
    />,
  );
  const plot = document.querySelector(".time-curve-plot") as HTMLElement;
  return { plot, slider: screen.getByRole("slider") };
}

beforeAll(() => {
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockReturnValue({
    ...new DOMRect(100, 0, 500, 200),
    left: 100,
    top: 0,
    width: 500,
  } as DOMRect);
  HTMLElement.prototype.setPointerCapture = () => {};
});
afterAll(() => Reflect.deleteProperty(HTMLElement.prototype, "setPointerCapture"));
beforeEach(() => void vi.clearAllMocks());
afterEach(cleanup);

function press(plot: HTMLElement, from: number, to: number, timeStamp = 5000) {
  fireEvent.pointerDown(plot, { button: 0, clientX: from });
  fireEvent.pointerMove(plot, { clientX: to });
  const up = new MouseEvent("pointerup", { bubbles: true, clientX: to });
  Object.defineProperty(up, "timeStamp", { value: timeStamp });
  fireEvent(plot, up);
}

describe("TimeCurve by pointer", () => {
  it("zooms to what was dragged over, in either direction and beyond the edge", () => {
    const { plot } = show();
    press(plot, 200, 350);
    expect(onWindow).toHaveBeenLastCalledWith({ start: 1200, end: 1500 });
    press(plot, 350, 200);
    expect(onWindow).toHaveBeenLastCalledWith({ start: 1200, end: 1500 });
    press(plot, 350, 900);
    expect(onWindow).toHaveBeenLastCalledWith({ start: 1500, end: 2000 });
    expect(onCursor).not.toHaveBeenCalled();
  });

  it("zooms up to where it is released, also when the way there has not been drawn", () => {
    const { plot } = show();
    fireEvent.pointerDown(plot, { button: 0, clientX: 200 });
    fireEvent.pointerMove(plot, { clientX: 300 });
    fireEvent.pointerUp(plot, { clientX: 350 });
    expect(onWindow).toHaveBeenLastCalledWith({ start: 1200, end: 1500 });
  });

  it("sets the cursor by a click and gives its slider the focus", () => {
    const { plot, slider } = show();
    press(plot, 200, 202);
    expect(onCursor).toHaveBeenLastCalledWith(1204);
    expect(onWindow).not.toHaveBeenCalled();
    expect(document.activeElement).toBe(slider);
  });

  it("hears a click that comes as soon as the page is there", () => {
    const { plot } = show();
    press(plot, 200, 200, 90);
    expect(onCursor).toHaveBeenLastCalledWith(1200);
  });

  it("goes back by a double click and forgets the clicks", () => {
    const { plot } = show({ zoomed: true, cursor: 1300 });
    press(plot, 200, 200, 5000);
    press(plot, 200, 200, 5100);
    fireEvent.doubleClick(plot);
    expect(onCursor.mock.calls).toEqual([[1200], [1300]]);
    expect(onWindow).toHaveBeenLastCalledWith(null);
  });

  it("goes back by a right click, and leaves the menu alone when there is nothing to go back to", () => {
    const first = show();
    expect(fireEvent.contextMenu(first.plot)).toBe(true);
    expect(onWindow).not.toHaveBeenCalled();
    cleanup();
    const { plot } = show({ zoomed: true });
    expect(fireEvent.contextMenu(plot)).toBe(false);
    expect(onWindow).toHaveBeenLastCalledWith(null);
  });

  it("tells which value is pointed at, and none by keyboard", () => {
    const readout = vi.fn(() => ({ title: "", lines: [] }));
    const { plot } = show({ readout });
    expect(readout).toHaveBeenLastCalledWith(1500, null);
    // The plot is 248 pixels high, and its axis ends at 3.
    fireEvent.pointerMove(plot, { clientX: 200, clientY: 62 });
    expect(readout).toHaveBeenLastCalledWith(1200, 2.25);
  });

  it("tells what holds under the pointer, as text", () => {
    const { plot } = show();
    fireEvent.pointerMove(plot, { clientX: 200 });
    expect(screen.getByText("at 1200")).toBeTruthy();
    expect(screen.getByText(NASTY)).toBeTruthy();
    expect(document.querySelector("img")).toBeNull();
    fireEvent.pointerLeave(plot);
    expect(screen.queryByText("at 1200")).toBeNull();
  });
});

describe("TimeCurve by keyboard", () => {
  it("has a slider for the moment that says what holds there", () => {
    const { slider } = show();
    expect((slider as HTMLInputElement).value).toBe("1500");
    expect(slider.getAttribute("aria-valuetext")).toBe(`at 1500, ${NASTY} 2 B`);
    fireEvent.change(slider, { target: { value: "1501" } });
    expect(onCursor).toHaveBeenLastCalledWith(1501);
  });

  it("goes from stop to stop where there are some", () => {
    const { slider } = show({ cursor: 1500, stops: [1000, 1400, 1900] });
    fireEvent.keyDown(slider, { key: "ArrowRight" });
    fireEvent.keyDown(slider, { key: "ArrowLeft" });
    expect(onCursor.mock.calls).toEqual([[1900], [1000]]);
  });

  it("says when the moment is not in sight", () => {
    const { slider } = show({ cursor: 5000 });
    expect((slider as HTMLInputElement).value).toBe("2000");
    expect(slider.getAttribute("aria-valuetext")).toContain("outside the range shown");
  });

  it("goes back by Escape: first the zoom, then the cursor, then it is the page's", () => {
    const pressEscape = (slider: HTMLElement) => fireEvent.keyDown(slider, { key: "Escape" });
    expect(pressEscape(show({ zoomed: true, cursor: 1300 }).slider)).toBe(false);
    expect(onWindow).toHaveBeenLastCalledWith(null);
    expect(onCursor).not.toHaveBeenCalled();
    cleanup();
    expect(pressEscape(show({ cursor: 1300 }).slider)).toBe(false);
    expect(onCursor).toHaveBeenLastCalledWith(null);
    cleanup();
    expect(pressEscape(show().slider)).toBe(true);
  });

  it("puts lines in and out by buttons", () => {
    show();
    const reserved = screen.getByRole("button", { name: "Reserved" });
    expect(reserved.getAttribute("aria-pressed")).toBe("false");
    fireEvent.click(reserved);
    expect(onToggle).toHaveBeenLastCalledWith("b");
  });

  it("shows the numbers as a table", () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: "Show as table" }));
    const row = within(screen.getByRole("table")).getAllByRole("row")[1];
    expect(row?.textContent).toBe("1 µs1 B");
  });
});

describe("TimeRange", () => {
  const MS = 1_000_000;
  const whole = { start: 0, end: 100 * MS };
  const spans = [
    { start: 10 * MS, end: 30 * MS, label: "Step 1" },
    { start: 30 * MS, end: 55 * MS, label: "Step 2" },
  ];
  const range = (window = whole, cursor: number | null = null) => {
    render(
      <TimeRange
        window={window}
        whole={whole}
        zoomed={window !== whole}
        onWindow={onWindow}
        cursor={cursor}
        spans={spans}
        spanLabel="Step"
      />,
    );
    return {
      from: screen.getByRole("textbox", { name: "From" }) as HTMLInputElement,
      to: screen.getByRole("textbox", { name: "to" }) as HTMLInputElement,
      apply: screen.getByRole("button", { name: "Apply" }) as HTMLButtonElement,
    };
  };
  const button = (name: string) => screen.getByRole("button", { name }) as HTMLButtonElement;

  it("takes times as they are typed, and leaves the other end exactly where it is", () => {
    const { from, to, apply } = range({ start: 20_000_001, end: 40_000_003 });
    expect([from.value, to.value]).toEqual(["20.000", "40.000"]);
    expect(apply.disabled).toBe(true);
    fireEvent.change(to, { target: { value: "35000 µs" } });
    fireEvent.submit(to);
    expect(onWindow).toHaveBeenLastCalledWith({ start: 20_000_001, end: 35_000_000 });
  });

  it("says what is no time, and what is no range", () => {
    const { from, to, apply } = range();
    fireEvent.change(from, { target: { value: "soon" } });
    expect(from.getAttribute("aria-invalid")).toBe("true");
    expect(apply.disabled).toBe(true);
    fireEvent.change(from, { target: { value: "90" } });
    fireEvent.change(to, { target: { value: "80" } });
    expect(to.getAttribute("aria-invalid")).toBe("true");
    fireEvent.submit(to);
    expect(onWindow).not.toHaveBeenCalled();
  });

  it("zooms to a span and shows which one it is", async () => {
    const choose = async (chosen: string, text: string) => {
      fireEvent.click(screen.getByRole("button", { name: `Step ${chosen}` }));
      const field = await screen.findByRole("combobox", { name: "Filter step" });
      fireEvent.change(field, { target: { value: text } });
      fireEvent.keyDown(field, { key: "Enter" });
    };
    range();
    await choose("–", "Step 2");
    expect(onWindow).toHaveBeenLastCalledWith({ start: 30 * MS, end: 55 * MS });
    cleanup();
    range({ start: 30 * MS, end: 55 * MS });
    await choose("Step 2", "–");
    expect(onWindow).toHaveBeenLastCalledWith(null);
  });

  it("zooms around the cursor, moves, and goes back", () => {
    range({ start: 20 * MS, end: 40 * MS }, 25 * MS);
    fireEvent.click(button("Zoom in"));
    expect(onWindow).toHaveBeenLastCalledWith({ start: 22.5 * MS, end: 32.5 * MS });
    fireEvent.click(button("Later"));
    expect(onWindow).toHaveBeenLastCalledWith({ start: 30 * MS, end: 50 * MS });
    fireEvent.click(button("Reset zoom"));
    expect(onWindow).toHaveBeenLastCalledWith(null);
    fireEvent.keyDown(button("Zoom in"), { key: "Escape" });
    expect(onWindow).toHaveBeenCalledTimes(4);
  });

  it("has nothing to go back to when everything is shown", () => {
    range();
    for (const name of ["Zoom out", "Earlier", "Later", "Reset zoom"]) {
      expect(button(name).disabled, name).toBe(true);
    }
  });
});
