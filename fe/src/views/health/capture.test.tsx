import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { Note } from "../../api";
import { HealthList } from "./Health";

afterEach(cleanup);

const NASTY = '<img src=x onerror="alert(1)">';

const NOTE: Note = {
  kind: NASTY,
  severity: "warning",
  count: 1200,
  text: NASTY,
  values: {},
  touches: ["operators", NASTY],
  remedy: NASTY,
  first_offset: 4096,
};

it("shows a note with all it says, as text", () => {
  render(<HealthList notes={[NOTE]} />);
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getByText("1,200 times")).toBeTruthy();
  expect(screen.getByText("first at byte 4,096")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Operator" })).toBeTruthy();
  expect(screen.queryByRole("button", { name: NASTY })).toBeNull();
  expect(screen.getByRole("button", { name: "Copy" })).toBeTruthy();
});

it("says so when there is nothing to say", () => {
  render(<HealthList notes={[]} />);
  expect(screen.getByText("Nothing unusual was noticed in this trace.")).toBeTruthy();
});
