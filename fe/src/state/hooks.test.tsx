import { act, cleanup, render } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { setParams, useChoice, useParam } from "./hooks";

afterEach(cleanup);
beforeEach(() => setParams({ q: null, o: null, m: null }));

it("draws what shows a key of the address again when that key changes, and no other", () => {
  let drawn = 0;
  function Shown() {
    drawn++;
    return <p>{useParam("q", "none")[0]}</p>;
  }
  const { container } = render(<Shown />);
  const before = drawn;
  act(() => setParams({ o: "-calls" }));
  expect(drawn).toBe(before);
  act(() => setParams({ q: "conv" }));
  expect(drawn).toBe(before + 1);
  expect(container.textContent).toBe("conv");
});

it("takes the first choice for a text that is none", () => {
  function Shown() {
    return <p>{useChoice("m", ["absolute", "percent"])[0]}</p>;
  }
  const { container } = render(<Shown />);
  expect(container.textContent).toBe("absolute");
  act(() => setParams({ m: "percent" }));
  expect(container.textContent).toBe("percent");
  act(() => setParams({ m: "nonsense" }));
  expect(container.textContent).toBe("absolute");
});

it("changes several keys at once: a component that shows two never sees one of them alone", () => {
  const seen: string[] = [];
  function Shown() {
    const text = `${useParam("q", "")[0]}/${useParam("o", "")[0]}`;
    seen.push(text);
    return <p>{text}</p>;
  }
  render(<Shown />);
  act(() => setParams({ q: "conv", o: "name" }));
  expect(seen.filter((text) => text === "conv/" || text === "/name")).toEqual([]);
  expect(seen.at(-1)).toBe("conv/name");
});
