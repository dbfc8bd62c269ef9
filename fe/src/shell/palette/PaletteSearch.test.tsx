import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Search } from "./PaletteSearch";
import type { Entry, EntryKind } from "./search";

vi.mock("./entries", () => ({}));

const onDone = vi.fn();
const NASTY = '<img src=x onerror="alert(1)">';

function entry(kind: EntryKind, label: string): Entry {
  return { kind, label, about: kind, first: kind === "view", run: () => {} };
}

const ENTRIES = [
  entry("view", "Overview"),
  entry("view", "Memory"),
  entry("op", "aten::mm"),
  entry("op", NASTY),
];

function Field() {
  const [typed, setTyped] = useState("");
  return (
    <Search entries={ENTRIES} loading={false} typed={typed} onType={setTyped} onDone={onDone} />
  );
}

beforeEach(() => {
  onDone.mockReset();
  render(<Field />);
});
afterEach(cleanup);

const field = () => screen.getByRole("combobox");
const labels = () => screen.getAllByRole("option").map((option) => option.firstChild?.textContent);
const active = () =>
  document.getElementById(field().getAttribute("aria-activedescendant") ?? "")?.firstChild
    ?.textContent;

it("begins with what comes first, and the first of it is active", () => {
  expect(labels()).toEqual(["Overview", "Memory"]);
  expect(active()).toBe("Overview");
  expect(document.activeElement).toBe(field());
});

it("follows the keys around the list", () => {
  fireEvent.keyDown(field(), { key: "ArrowDown" });
  expect(active()).toBe("Memory");
  expect(screen.getAllByRole("option", { selected: true })).toHaveLength(1);
  fireEvent.keyDown(field(), { key: "ArrowDown" });
  expect(active()).toBe("Overview");
});

it("does what was found", () => {
  fireEvent.change(field(), { target: { value: "mm" } });
  expect(labels()[0]).toBe("aten::mm");
  fireEvent.keyDown(field(), { key: "Enter" });
  expect(onDone).toHaveBeenCalledExactlyOnceWith(ENTRIES[2]);
});

it("says when there are no matches, and does nothing then", () => {
  fireEvent.change(field(), { target: { value: "zzz" } });
  expect(screen.getByRole("status").textContent).toBe("No matches.");
  expect(field().getAttribute("aria-activedescendant")).toBeNull();
  fireEvent.keyDown(field(), { key: "Enter" });
  expect(onDone).not.toHaveBeenCalled();
});

it("shows names as text, and leaves an unfinished word of an input method alone", () => {
  fireEvent.change(field(), { target: { value: "onerror" } });
  expect(labels()).toEqual([NASTY]);
  fireEvent.keyDown(field(), { key: "Enter", isComposing: true });
  expect(onDone).not.toHaveBeenCalled();
});
