import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it } from "vitest";
import { Segmented } from "./Segmented";

const OPTIONS = ["one", "two", "three"];
const NAMES = { one: "one", two: "two", three: "three" };

function Harness() {
  const [value, setValue] = useState("two");
  return (
    <Segmented label="Which" value={value} options={OPTIONS} names={NAMES} onChange={setValue} />
  );
}

const chosen = () => screen.getByRole("radio", { checked: true }).textContent;

afterEach(cleanup);

it("is a group of which one is chosen", () => {
  render(<Harness />);
  expect(screen.getByRole("radiogroup", { name: "Which" })).toBeTruthy();
  expect(screen.getAllByRole("radio")).toHaveLength(3);
  expect(chosen()).toBe("two");
  fireEvent.click(screen.getByRole("radio", { name: "three" }));
  expect(chosen()).toBe("three");
});

it("is one stop of the Tab key, and arrows choose", () => {
  render(<Harness />);
  const stops = () => screen.getAllByRole("radio").filter(({ tabIndex }) => tabIndex === 0);
  expect(stops().map(({ textContent }) => textContent)).toEqual(["two"]);
  stops()[0]?.focus();
  const press = (key: string) => fireEvent.keyDown(document.activeElement as Element, { key });
  press("ArrowRight");
  expect(chosen()).toBe("three");
  expect(document.activeElement?.textContent).toBe("three");
  press("ArrowDown");
  expect(chosen()).toBe("one");
  press("ArrowLeft");
  expect(chosen()).toBe("three");
  press("Home");
  expect(chosen()).toBe("one");
  expect(document.activeElement?.textContent).toBe("one");
});
