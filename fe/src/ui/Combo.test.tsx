import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { Combo } from "./Combo";
import type { Option } from "./options";

const OPTIONS = ["rank0", "rank1", "rank10"].map((label) => ({ value: label, label }));
const onChange = vi.fn();

beforeAll(() => {
  // The virtual list needs a box with a size, which a DOM without layout does not have.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(320);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(28);
});
beforeEach(() => onChange.mockReset());
afterEach(cleanup);

function show(options: readonly Option[] = OPTIONS): void {
  render(<Combo label="Worker" value="rank0" options={options} onChange={onChange} />);
}

function open(): Promise<HTMLElement> {
  fireEvent.click(screen.getByRole("button", { name: "Worker rank0" }));
  return screen.findByRole("combobox", { name: "Filter worker" });
}

it("is filtered by typing and answered with Enter", async () => {
  show();
  const field = await open();
  fireEvent.change(field, { target: { value: "1" } });
  expect(screen.getAllByRole("option")).toHaveLength(2);
  fireEvent.keyDown(field, { key: "ArrowDown" });
  fireEvent.keyDown(field, { key: "Enter" });
  expect(onChange).toHaveBeenCalledExactlyOnceWith("rank10");
  expect(screen.queryByRole("listbox")).toBeNull();
});

it("is left with Escape, changing nothing", async () => {
  show();
  fireEvent.keyDown(await open(), { key: "Escape" });
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(onChange).not.toHaveBeenCalled();
});

it("holds a thousand ranks and draws those in sight", async () => {
  show(
    Array.from({ length: 1024 }, (_, rank) => ({
      value: `rank${rank}`,
      label: `rank${rank}`,
      detail: `rank ${rank} of 1024`,
    })),
  );
  const field = await open();
  const options = screen.getAllByRole("option");
  expect(options.length).toBeGreaterThan(5);
  expect(options.length).toBeLessThan(60);
  expect(options[0]?.getAttribute("aria-setsize")).toBe("1024");

  fireEvent.change(field, { target: { value: "1023" } });
  expect(screen.getAllByRole("option")).toHaveLength(1);
  fireEvent.keyDown(field, { key: "Enter" });
  expect(onChange).toHaveBeenCalledExactlyOnceWith("rank1023");
});

it("shows blanks that HTML would drop", async () => {
  const names = ["run", "run ", "a  b"].map((label) => ({ value: label, label }));
  render(<Combo label="Run" value="run " options={names} onChange={onChange} />);
  fireEvent.click(screen.getByRole("button", { name: "Run run␣" }));
  await screen.findByRole("combobox", { name: "Filter run" });
  const shown = screen.getAllByRole("option").map((option) => option.textContent);
  expect(shown).toEqual(["run", "run␣", "a␣␣b"]);
});

it("keeps the focus in the filter while an option is pressed, though what is around can have it", async () => {
  show();
  await open();
  const [, second] = screen.getAllByRole("option");
  expect(second && fireEvent.mouseDown(second)).toBe(false);
});
