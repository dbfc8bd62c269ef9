import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { DataTable, type DataTableProps } from "./DataTable";
import { giveRoom, names, useKept } from "./gridCases";
import type { Table } from "./model";

const table: Table = {
  columns: [
    { key: "name", label: "Name", type: "string", unit: null },
    { key: "calls", label: "Calls", type: "number", unit: "count", help: "How often it ran." },
    { key: "self_ns", label: "Self", type: "number", unit: "ns" },
  ],
  rows: {
    name: ["aten::mm", "aten::add", "<img src=x onerror=alert(1)>", "aten::relu", "Memcpy"],
    calls: [3, 20, 7, null, 7],
    self_ns: [5_000_000, 1000, 2000, 3000, null],
  },
};

function Harness(props: Partial<DataTableProps>) {
  return (
    <DataTable
      id="test"
      label="Operators"
      table={table}
      {...useKept({ sort: "-self_ns" })}
      {...props}
    />
  );
}

const sortBy = (label: RegExp, init = {}) =>
  fireEvent.click(screen.getByRole("button", { name: label }), init);

giveRoom();

describe("DataTable", () => {
  it("shows all rows, the largest first, missing values last, names as text", () => {
    render(<Harness />);
    expect(names()).toEqual([
      "aten::mm",
      "aten::relu",
      "<img src=x onerror=alert(1)>",
      "aten::add",
      "Memcpy",
    ]);
    expect(document.querySelector("img")).toBeNull();
    expect(screen.getByText("5 rows")).toBeTruthy();
    const grid = screen.getByRole("grid", { name: "Operators" });
    expect(grid.getAttribute("aria-rowcount")).toBe("6");
    expect(grid.getAttribute("aria-colcount")).toBe("3");
  });

  it("keeps the end of a name apart that must be seen, and the name whole for a filter", () => {
    const columns = table.columns.map((column, at) =>
      at === 0 ? { ...column, tail: " (backward)" } : column,
    );
    const rows = {
      ...table.rows,
      name: ["aten::mm (backward)", "aten::mm", "a", "b", "(backward)"],
    };
    render(<Harness table={{ columns, rows }} filter="mm (backward)" />);
    expect(names()).toEqual(["aten::mm (backward)"]);
    const parts = document.querySelectorAll(".grid-tailed > span");
    expect([...parts].map(({ textContent }) => textContent)).toEqual(["aten::mm", " (backward)"]);
  });

  it("sorts by a click and adds a column with shift", () => {
    render(<Harness />);
    sortBy(/^Calls/);
    expect(names()).toEqual([
      "aten::add",
      "<img src=x onerror=alert(1)>",
      "Memcpy",
      "aten::mm",
      "aten::relu",
    ]);
    sortBy(/^Name/, { shiftKey: true });
    sortBy(/^Name/, { shiftKey: true });
    expect(names().slice(1, 3)).toEqual(["Memcpy", "<img src=x onerror=alert(1)>"]);
    const headers = screen.getAllByRole("columnheader");
    expect(headers.map((header) => header.getAttribute("aria-sort"))).toEqual([
      "descending",
      "descending",
      "none",
    ]);
  });

  it("filters, and keeps the last filter that worked", async () => {
    render(<Harness />);
    const box = screen.getByRole("searchbox");
    fireEvent.change(box, { target: { value: "aten calls>5" } });
    expect(await screen.findByText("1 of 5 rows")).toBeTruthy();
    expect(names()).toEqual(["aten::add"]);
    fireEvent.change(box, { target: { value: "aten calls>" } });
    expect(await screen.findByText(/needs a number/)).toBeTruthy();
    expect(box.getAttribute("aria-invalid")).toBe("true");
    expect(names()).toEqual(["aten::add"]);
  });

  it("offers to clear a filter that nothing matches", async () => {
    render(<Harness />);
    fireEvent.change(screen.getByRole("searchbox"), { target: { value: "nothing" } });
    fireEvent.click(await screen.findByRole("button", { name: "Clear the filter" }));
    expect(await screen.findByText("5 rows")).toBeTruthy();
  });

  it("moves, selects and opens rows by keyboard", () => {
    const onSelect = vi.fn();
    render(<Harness onSelect={onSelect} renderExpanded={(row) => <p>details of {row}</p>} />);
    const grid = screen.getByRole("grid");
    fireEvent.focus(grid);
    fireEvent.keyDown(grid, { key: "ArrowDown" });
    fireEvent.keyDown(grid, { key: "Enter" });
    expect(onSelect).toHaveBeenCalledWith(3, table.rows);
    fireEvent.keyDown(grid, { key: "ArrowRight" });
    expect(screen.getByText("details of 3")).toBeTruthy();
    fireEvent.keyDown(grid, { key: "ArrowLeft" });
    expect(screen.queryByText("details of 3")).toBeNull();
    const active = document.getElementById(grid.getAttribute("aria-activedescendant") ?? "");
    expect(active?.textContent).toContain("aten::relu");
  });

  it("marks what is selected elsewhere", () => {
    render(<Harness selected="aten::add" />);
    const marked = screen
      .getAllByRole("row")
      .filter((row) => row.getAttribute("aria-selected") === "true");
    expect(marked.map((row) => row.textContent)).toEqual([expect.stringContaining("aten::add")]);
  });

  it("hides columns and remembers it", () => {
    const first = render(<Harness />);
    fireEvent.click(screen.getByRole("button", { name: /^Columns/ }));
    fireEvent.click(screen.getByRole("checkbox", { name: "Calls" }));
    expect(screen.getAllByRole("columnheader")).toHaveLength(2);
    first.unmount();
    render(<Harness />);
    expect(screen.getAllByRole("columnheader")).toHaveLength(2);
  });

  it("leaves out a column that is declared hidden until it is asked for", () => {
    const [name, calls, self] = table.columns;
    if (!name || !calls || !self) throw new Error("no columns");
    render(<Harness table={{ ...table, columns: [name, { ...calls, hidden: true }, self] }} />);
    const heads = () => screen.getAllByRole("columnheader").map(({ textContent }) => textContent);
    expect(heads()).toEqual([expect.stringContaining("Name"), expect.stringContaining("Self")]);
    fireEvent.click(screen.getByRole("button", { name: /^Columns/ }));
    fireEvent.click(screen.getByRole("checkbox", { name: "Calls" }));
    expect(heads()[1]).toContain("Calls");
  });

  it("gives the exact value of a cell that is pointed at", () => {
    render(<Harness />);
    const cell = screen.getByText("5.000");
    fireEvent.pointerMove(cell);
    expect(cell.title).toBe("5,000,000 ns");
  });
});
