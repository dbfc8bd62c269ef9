import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { Table } from "./model";
import { SimpleTable } from "./SimpleTable";

it("has what its rows are of at the start, also where that is a number", () => {
  const table: Table = {
    columns: [
      { key: "graph", label: "Graph", type: "number", unit: "count" },
      { key: "nodes", label: "Nodes", type: "number", unit: "count" },
    ],
    rows: { graph: [0], nodes: [421] },
  };
  render(<SimpleTable caption="Graphs" table={table} />);
  const isNumber = (name: string) => screen.getByText(name).classList.contains("number");
  expect(["Graph", "0", "Nodes", "421"].map(isNumber)).toEqual([false, false, true, true]);
});
