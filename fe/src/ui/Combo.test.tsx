import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Combo } from "./Combo";

const OPTIONS = ["rank0", "rank1", "rank10"].map((label) => ({ value: label, label }));
const onChange = vi.fn();

beforeEach(() => {
  onChange.mockReset();
  render(<Combo label="Worker" value="rank0" options={OPTIONS} onChange={onChange} />);
});
afterEach(cleanup);

function open(): HTMLElement {
  fireEvent.click(screen.getByRole("button", { name: "Worker rank0" }));
  return screen.getByRole("combobox", { name: "Filter worker" });
}

it("is filtered by typing and answered with Enter", () => {
  const field = open();
  fireEvent.change(field, { target: { value: "1" } });
  expect(screen.getAllByRole("option")).toHaveLength(2);
  fireEvent.keyDown(field, { key: "ArrowDown" });
  fireEvent.keyDown(field, { key: "Enter" });
  expect(onChange).toHaveBeenCalledExactlyOnceWith("rank10");
  expect(screen.queryByRole("listbox")).toBeNull();
});

it("is left with Escape, changing nothing", () => {
  fireEvent.keyDown(open(), { key: "Escape" });
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(onChange).not.toHaveBeenCalled();
});
