import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import { giveRoom, names, rows, useKept } from "./gridCases";
import type { Table } from "./model";
import { TreeTable, type TreeTableProps } from "./TreeTable";

const table: Table = {
  columns: [
    { key: "name", label: "Name", type: "string", unit: null },
    { key: "calls", label: "Calls", type: "number", unit: "count" },
  ],
  rows: {
    name: ["Net", "Block", "Linear", "Head", "Loss", "<img src=x onerror=alert(1)>"],
    calls: [1, 6, 7, 9, 3, 2],
  },
};
const PARENT = [-1, 0, 1, 0, -1, 4];

function Harness(props: Partial<TreeTableProps>) {
  const kept = useKept({ filter: props.filter ?? "" });
  const [expansion, setExpansion] = useState(props.expansion ?? "");
  const [selected, setSelected] = useState(-1);
  return (
    <>
      <output>{expansion}</output>
      <TreeTable
        id="tree"
        label="Modules"
        table={table}
        parent={PARENT}
        selected={selected}
        onSelect={setSelected}
        {...props}
        {...kept}
        expansion={expansion}
        onExpansion={setExpansion}
      />
    </>
  );
}

const grid = () => screen.getByRole("treegrid", { name: "Modules" });
const row = (name: string) => {
  const found = rows().find((each) => each.textContent?.startsWith(name));
  if (!found) throw new Error(`no row ${name}`);
  return found;
};
const expander = (name: string) => row(name).querySelector(".tree-expander") as Element;

giveRoom();

describe("TreeTable", () => {
  it("shows the outermost rows open, with their levels", () => {
    render(<Harness />);
    expect(names()).toEqual(["Net", "Block", "Head", "Loss", "<img src=x onerror=alert(1)>"]);
    expect(rows().map((each) => each.getAttribute("aria-level"))).toEqual([
      "1",
      "2",
      "2",
      "1",
      "2",
    ]);
    expect(rows().map((each) => each.getAttribute("aria-expanded"))).toEqual([
      "true",
      "false",
      null,
      "true",
      null,
    ]);
  });

  it("opens and closes by mouse, and says so", () => {
    render(<Harness />);
    fireEvent.click(expander("Block"));
    expect(names()).toContain("Linear");
    expect(screen.getByText("~1")).toBeTruthy();
    fireEvent.click(expander("Net"));
    expect(names()).toEqual(["Net", "Loss", "<img src=x onerror=alert(1)>"]);
    fireEvent.click(screen.getByRole("button", { name: "Expand all" }));
    expect(rows()).toHaveLength(6);
    expect(screen.getByText("all")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Collapse all" }));
    expect(names()).toEqual(["Net", "Loss"]);
  });

  it("goes in and out by keys", () => {
    const onSelect = vi.fn();
    render(<Harness expansion="none" onSelect={onSelect} />);
    fireEvent.focus(grid());
    const press = (key: string) => fireEvent.keyDown(grid(), { key });
    const active = () =>
      document.getElementById(grid().getAttribute("aria-activedescendant") ?? "")?.textContent;
    press("ArrowRight");
    expect(names()).toEqual(["Net", "Block", "Head", "Loss"]);
    press("ArrowRight");
    expect(active()).toContain("Block");
    press("ArrowDown");
    press("ArrowLeft");
    expect(active()).toContain("Net");
    press("ArrowLeft");
    expect(names()).toEqual(["Net", "Loss"]);
    press("End");
    press("Enter");
    expect(onSelect).toHaveBeenCalledWith(4);
  });

  it("sorts rows below the same parent", () => {
    render(<Harness expansion="all" />);
    fireEvent.click(screen.getByRole("button", { name: /Calls/ }));
    expect(names().slice(0, 5)).toEqual([
      "Loss",
      "<img src=x onerror=alert(1)>",
      "Net",
      "Head",
      "Block",
    ]);
  });

  it("shows what a filter finds with what is around it, wherever it is", () => {
    render(<Harness expansion="none" filter="linear" />);
    expect(names()).toEqual(["Net", "Block", "Linear"]);
    expect(row("Net").className).toContain("faint");
    expect(row("Linear").className).not.toContain("faint");
    expect(screen.getByText("1 of 6 rows")).toBeTruthy();
    fireEvent.click(expander("Block"));
    expect(names()).toEqual(["Net", "Block"]);
    fireEvent.change(screen.getByRole("searchbox"), { target: { value: "" } });
    expect(names()).toEqual(["Net", "Loss"]);
  });

  it("opens what is around a row that is selected elsewhere", () => {
    const { rerender } = render(<Harness expansion="none" selected={-1} />);
    rerender(<Harness expansion="none" selected={2} />);
    expect(row("Linear").getAttribute("aria-selected")).toBe("true");
  });

  it("leaves names as text", () => {
    const { container } = render(<Harness />);
    expect(container.querySelector("img")).toBeNull();
  });
});
