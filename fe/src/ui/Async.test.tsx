import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ApiError, type Result } from "../api";
import { Async } from "./Async";

afterEach(cleanup);

function query(state: Partial<Result<string>>): Result<string> {
  const idle = { data: undefined, error: null, isFetching: false, isPlaceholderData: false };
  return { ...idle, refetch: vi.fn(), ...state } as unknown as Result<string>;
}

function show(state: Partial<Result<string>>, empty?: () => { reason: string; remedy: string }) {
  const result = query(state);
  render(
    <Async query={result} {...(empty ? { empty } : {})}>
      {(data) => <p>{data}</p>}
    </Async>,
  );
  return result;
}

it("shows a skeleton until there is an answer", () => {
  show({ isFetching: true });
  expect(screen.getByRole("status", { name: "Loading…" })).toBeTruthy();
});

it("shows how far the trace is while it is being read", () => {
  show({ error: new ApiError(409, "loading", "api/overview", "loading", 0.42) });
  expect(screen.getByText(/42 %/)).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("says what went wrong, with the request, and asks again", () => {
  const result = show({ error: new ApiError(500, "KeyError: <b>x</b>", "api/overview?run=a") });
  expect(screen.getByText("KeyError: <b>x</b>")).toBeTruthy();
  expect(screen.getByText("api/overview?run=a")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Retry" }));
  expect(result.refetch).toHaveBeenCalledOnce();
});

it("says why there is nothing, and what would record it", () => {
  show({ data: "rows" }, () => ({ reason: "No kernels.", remedy: "activities=[CUDA]" }));
  expect(screen.getByText("No kernels.")).toBeTruthy();
  expect(screen.getByText("activities=[CUDA]")).toBeTruthy();
  expect(screen.queryByText("rows")).toBeNull();
});

it("keeps old data in sight, marked, while the new is on its way", () => {
  show({ data: "old", isFetching: true, isPlaceholderData: true });
  expect(screen.getByText("old")).toBeTruthy();
  expect(screen.getByText("Refreshing")).toBeTruthy();
});

it("lets old data be used meanwhile only where the panel says so", () => {
  const stale = { data: "old", isFetching: true, isPlaceholderData: true };
  const inert = () => screen.getByText("old").closest("[inert]") !== null;
  show(stale);
  expect(inert()).toBe(true);
  cleanup();
  render(
    <Async query={query(stale)} usable>
      {(data) => <p>{data}</p>}
    </Async>,
  );
  expect(inert()).toBe(false);
});
