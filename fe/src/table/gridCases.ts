/** For tests: tables in a page without layout. */
import { cleanup, screen, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeAll, vi } from "vitest";

/** Called in a file of tests: its tables have room for their rows, and each test begins with an empty page. */
export function giveRoom(): void {
  beforeAll(() => {
    // The virtual rows need a box with a size, which a DOM without layout does not have.
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(900);
  });
  afterEach(() => {
    cleanup();
    localStorage.clear();
  });
}

/** What the view around a table keeps of it. */
export function useKept(first: { readonly filter?: string; readonly sort?: string }) {
  const [filter, onFilter] = useState(first.filter ?? "");
  const [sort, onSort] = useState(first.sort ?? "");
  return { filter, onFilter, sort, onSort };
}

/** Without the head. */
export const rows = (): HTMLElement[] => screen.getAllByRole("row").slice(1);

/** What stands in the first column. */
export const names = () =>
  rows().map((row) => within(row).queryAllByRole("gridcell")[0]?.textContent);
