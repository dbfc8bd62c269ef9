import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Table } from "./model";
import { PagedTable, type PagedTableProps } from "./PagedTable";
import { pagesOf, parsePage } from "./pages";

const table: Table = {
  columns: [
    { key: "operator", label: "Operator", type: "string", unit: null },
    { key: "bytes", label: "Size", type: "number", unit: "bytes", ownUnits: true },
  ],
  rows: { operator: ["b", "a", "c"], bytes: [512, 3 * 1024 ** 3, 2048] },
};

const onPage = vi.fn();
const onSort = vi.fn();

function show(props: Partial<PagedTableProps> = {}) {
  return render(
    <PagedTable
      id="paged"
      label="Allocations"
      table={table}
      total={2503}
      offset={1000}
      size={1000}
      onPage={onPage}
      nameKey="operator"
      sort=""
      onSort={onSort}
      {...props}
    />,
  );
}

beforeAll(() => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(900);
});

afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.clearAllMocks();
});

describe("pages", () => {
  it("are counted", () => {
    expect(pagesOf(2503, 1000, 1000)).toEqual({ page: 1, pages: 3, first: 1001, last: 2000 });
    expect(pagesOf(2503, 2000, 1000)).toEqual({ page: 2, pages: 3, first: 2001, last: 2503 });
    expect(pagesOf(0, 0, 1000)).toEqual({ page: 0, pages: 1, first: 0, last: 0 });
    expect(pagesOf(1000, 0, 1000)).toEqual({ page: 0, pages: 1, first: 1, last: 1000 });
  });

  it("are asked for from 1 on", () => {
    expect(["1", " 3 ", "0", "-1", "x", "", "1e9"].map(parsePage)).toEqual([0, 2, 0, 0, 0, 0, 0]);
  });
});

describe("PagedTable", () => {
  it("leaves order and units to others", () => {
    show({ sort: "-bytes" });
    const rows = screen.getAllByRole("row").slice(1);
    expect(rows.map((row) => within(row).getAllByRole("gridcell")[0]?.textContent)).toEqual([
      "b",
      "a",
      "c",
    ]);
    expect(rows.map((row) => within(row).getAllByRole("gridcell")[1]?.textContent)).toEqual([
      "512 B",
      "3 GB",
      "2 KB",
    ]);
    expect(screen.getByText("1,001–2,000 of 2,503 rows")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Size" }));
    expect(onSort).toHaveBeenLastCalledWith("bytes");
    fireEvent.click(screen.getByRole("button", { name: "Operator" }), { shiftKey: true });
    expect(onSort).toHaveBeenLastCalledWith("operator");
  });

  it("turns pages", () => {
    show();
    const pager = within(screen.getByRole("navigation", { name: "Pages: Allocations" }));
    for (const [name, page] of [
      ["First page", 0],
      ["Previous page", 0],
      ["Next page", 2],
      ["Last page", 2],
    ] as const) {
      fireEvent.click(pager.getByRole("button", { name }));
      expect(onPage).toHaveBeenLastCalledWith(page);
    }
    const field = pager.getByRole("textbox", { name: "Page" });
    expect((field as HTMLInputElement).value).toBe("2");
    fireEvent.change(field, { target: { value: "99" } });
    fireEvent.submit(field);
    expect(onPage).toHaveBeenLastCalledWith(2);
  });

  it("does not turn beyond the ends", () => {
    show({ offset: 2000 });
    fireEvent.click(screen.getByRole("button", { name: "Next page" }));
    expect(onPage).not.toHaveBeenCalled();
    expect(screen.getByRole("button", { name: "Next page" }).getAttribute("aria-disabled")).toBe(
      "true",
    );
  });

  it("has no pager for one page", () => {
    show({ total: 3, offset: 0 });
    expect(screen.queryByRole("navigation")).toBeNull();
    expect(screen.getByText("3 rows")).toBeTruthy();
  });
});
