import { act, cleanup, render } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { change, choice, list, param, text } from "./address";
import { goToView, selectTrace, setAddress, useAddress } from "./hooks";
import { page } from "./page";
import { paramStore } from "./store";

const FILTER = param("q", text("none"));
const SORT = param("o", text());
const MODE = param("m", choice(["absolute", "percent"]));
const NAMES = param("w", list);

afterEach(cleanup);
beforeEach(() =>
  setAddress(...Object.keys(paramStore().get()).map((key) => ({ key, text: "", isStep: true }))),
);

it("draws what shows a parameter again when that one changes, and no other", () => {
  let drawn = 0;
  function Shown() {
    drawn++;
    return <p>{useAddress(FILTER)[0]}</p>;
  }
  const { container } = render(<Shown />);
  const before = drawn;
  act(() => setAddress(change(SORT, "-calls")));
  expect(drawn).toBe(before);
  expect(container.textContent).toBe("none");
  act(() => setAddress(change(FILTER, "conv")));
  expect(drawn).toBe(before + 1);
  expect(container.textContent).toBe("conv");
});

it("gives the same object while the text is the same", () => {
  const seen: (readonly string[])[] = [];
  function Shown() {
    useAddress(SORT);
    seen.push(useAddress(NAMES)[0]);
    return null;
  }
  render(<Shown />);
  act(() => setAddress(change(NAMES, ["a", "b"])));
  const first = seen.at(-1);
  expect(first).toEqual(["a", "b"]);
  act(() => setAddress(change(SORT, "-calls")));
  expect(seen.at(-1)).toBe(first);
});

it("takes the first choice for a text that is none, and never writes it", () => {
  let set = (_: "absolute" | "percent") => {};
  function Shown() {
    const [mode, setMode] = useAddress(MODE);
    set = setMode;
    return <p>{mode}</p>;
  }
  const { container } = render(<Shown />);
  expect(container.textContent).toBe("absolute");
  act(() => set("percent"));
  expect(container.textContent).toBe("percent");
  act(() => setAddress({ key: "m", text: "nonsense", isStep: false }));
  expect(container.textContent).toBe("absolute");
  act(() => set("absolute"));
  expect(paramStore().get()).toEqual({});
});

it("changes several at once: a component that shows two never sees one of them alone", () => {
  const seen: string[] = [];
  function Shown() {
    const text = `${useAddress(FILTER)[0]}/${useAddress(SORT)[0]}`;
    seen.push(text);
    return <p>{text}</p>;
  }
  render(<Shown />);
  const push = vi.spyOn(history, "pushState");
  act(() => setAddress(change(FILTER, "conv"), change(SORT, "name"), change(page.run, "a")));
  expect(seen.filter((text) => text === "conv/" || text === "none/name")).toEqual([]);
  expect(seen.at(-1)).toBe("conv/name");
  expect(push).toHaveBeenCalledTimes(1);
});

it("puts aside what belongs to a view that is left, and gives it back", () => {
  goToView("operators", null, { filter: "conv", sort: "-calls" });
  setAddress(change(page.run, "run"), { key: "zz", text: "1", isStep: false });
  const operators = paramStore().get();
  expect(operators).toEqual({ v: "operators", q: "conv", o: "-calls", r: "run", zz: "1" });
  goToView("overview");
  expect(paramStore().get()).toEqual({ r: "run", zz: "1" });
  goToView("operators");
  expect(paramStore().get()).toEqual(operators);
  // @ts-expect-error: a look is made of the view's own parameters
  expect(() => goToView("operators", null, { nothing: "" })).toThrow("nothing");
});

it("forgets with other traces what was about those that were shown", () => {
  goToView("compare", null, { part: "0-2", measure: "device_ns" });
  selectTrace({ run: "other" });
  expect(paramStore().get()).toEqual({ v: "compare", m: "device_ns", r: "other" });
  goToView("compare", null, { part: "0-3" });
  goToView("overview");
  selectTrace({ run: "third" });
  goToView("compare");
  expect(paramStore().get()).toEqual({ v: "compare", m: "device_ns", r: "third" });
});
