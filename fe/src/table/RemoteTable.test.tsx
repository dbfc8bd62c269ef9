import { QueryClientProvider } from "@tanstack/react-query";
import {
  cleanup,
  fireEvent,
  render,
  renderHook,
  screen,
  waitFor,
  within,
} from "@testing-library/react";
import { type ReactNode, useState } from "react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createQueryClient, setBase, type TableHandle, type TablePage, tables } from "../api";
import { DataTable } from "./DataTable";
import type { Table } from "./model";
import type { RemoteTable } from "./useRemoteRows";
import { notHere, useWhole } from "./useRemoteTable";

setBase(new URL("http://127.0.0.1/"));

const TOTAL = 30_000;
const columns: Table["columns"] = [
  { key: "name", label: "Name", type: "string", unit: null },
  { key: "calls", label: "Calls", type: "number", unit: "count", largest: TOTAL },
];
const first: Table = { columns, rows: { name: ["kernel 0"], calls: [TOTAL] } };
const SEL = { run: "r", worker: "w", span: "1" };
const remote: RemoteTable = {
  source: tables.kernels(SEL),
  shape: (page) => page,
};

/** Every request, in order. */
let asked: URL[] = [];
/** Rows of the table. */
let total = TOTAL;
/** What the server says next instead of an answer. */
let refusal: { status: number; error: string } | null = null;

/** A table of rows `kernel n` with `TOTAL - n` calls; a filter leaves ten. */
function answer(url: URL): TablePage {
  const of = url.searchParams;
  const matched = of.get("filter") ? 10 : total;
  const offset = Number(of.get("offset") ?? 0);
  const limit = of.get("limit") === "all" ? matched : Number(of.get("limit") ?? 200);
  const upwards = of.get("sort") === "calls";
  const places = Array.from({ length: Math.min(limit, matched - offset) }, (_, i) =>
    upwards ? TOTAL - 1 - offset - i : offset + i,
  );
  return {
    meta: {
      run: "r",
      worker: "w",
      span: "1",
      device_type: "GPU",
      notes: [],
      group_by: "name",
      device_ns: 0,
      host_ns: null,
      total,
      matched,
      offset,
    },
    columns: columns.map((column) => ({ help: "", ...column })) as TablePage["columns"],
    rows: {
      name: places.map((place) => `kernel ${place}`),
      calls: places.map((place) => TOTAL - place),
    },
  };
}

function Harness() {
  const [filter, setFilter] = useState("");
  const [sort, setSort] = useState("-calls");
  const [client] = useState(createQueryClient);
  return (
    <QueryClientProvider client={client}>
      <DataTable
        id="test"
        label="Kernels"
        table={first}
        remote={remote}
        filter={filter}
        onFilter={setFilter}
        sort={sort}
        onSort={setSort}
      />
    </QueryClientProvider>
  );
}

const names = () =>
  screen
    .getAllByRole("row")
    .slice(1)
    .map((row) => within(row).queryAllByRole("gridcell")[0]?.textContent);

beforeAll(() => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(900);
});

beforeEach(() => {
  asked = [];
  total = TOTAL;
  refusal = null;
  vi.stubGlobal("fetch", async (url: URL) => {
    asked.push(url);
    if (refusal) {
      return new Response(JSON.stringify({ error: refusal.error }), { status: refusal.status });
    }
    return new Response(JSON.stringify(answer(url)));
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("a table of which the server has the rows", () => {
  it("asks for the rows that can be seen", async () => {
    render(<Harness />);
    expect(await screen.findByText("30,000 rows")).toBeTruthy();
    expect(names().slice(0, 3)).toEqual(["kernel 0", "kernel 1", "kernel 2"]);
    expect(asked).toHaveLength(1);
    expect(Object.fromEntries(asked[0]?.searchParams ?? [])).toEqual({
      run: "r",
      worker: "w",
      span: "1",
      group_by: "name",
      sort: "-calls",
      filter: "",
      search: "name",
      offset: "0",
      limit: "200",
    });
    const grid = screen.getByRole("grid");
    expect(grid.getAttribute("aria-rowcount")).toBe("30001");
    expect(grid.getAttribute("aria-busy")).toBe("false");
  });

  it("lets the server sort, and keeps the old rows until it has", async () => {
    render(<Harness />);
    await screen.findByText("30,000 rows");
    fireEvent.click(screen.getByRole("button", { name: /^Calls/ }));
    expect(screen.getByRole("grid").getAttribute("aria-busy")).toBe("true");
    expect(names()[0]).toBe("kernel 0");
    await waitFor(() => expect(names()[0]).toBe("kernel 29999"));
    expect(screen.getByRole("grid").getAttribute("aria-busy")).toBe("false");
    expect(asked.at(-1)?.searchParams.get("sort")).toBe("calls");
  });

  it("lets the server filter, once typing has paused, and only by what makes sense", async () => {
    render(<Harness />);
    await screen.findByText("30,000 rows");
    const box = screen.getByRole("searchbox");
    for (const value of ["c", "calls", "calls>many", "calls>5"])
      fireEvent.change(box, { target: { value } });
    expect(await screen.findByText("10 of 30,000 rows")).toBeTruthy();
    expect(names()).toHaveLength(10);
    fireEvent.change(box, { target: { value: "calls>" } });
    expect(await screen.findByText(/needs a number/)).toBeTruthy();
    expect(names()).toHaveLength(10);
    const filters = asked.map((url) => url.searchParams.get("filter"));
    expect([...new Set(filters)]).toEqual(["", "calls>5"]);
  });

  it("says what went wrong, and tries again", async () => {
    refusal = { status: 422, error: "the file is gone" };
    render(<Harness />);
    expect(await screen.findByText("the file is gone")).toBeTruthy();
    refusal = null;
    fireEvent.click(screen.getByRole("button", { name: "Retry" }));
    expect(await screen.findByText("30,000 rows")).toBeTruthy();
    expect(screen.queryByText("the file is gone")).toBeNull();
  });
});

describe("a table that is to be compared", () => {
  const whole = (handle: TableHandle, wanted: boolean) => {
    const client = createQueryClient();
    const wrapper = ({ children }: { children: ReactNode }) => (
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    );
    return renderHook(() => useWhole(handle, wanted), { wrapper });
  };
  const limits = () => asked.map((url) => url.searchParams.get("limit"));

  it("is fetched whole when its first answer is only a page", async () => {
    const { result } = whole(tables.kernels(SEL), true);
    await waitFor(() => expect(result.current.data?.rows.name).toHaveLength(TOTAL));
    expect(limits()).toEqual([null, "all"]);
  });

  it("is its first answer when that is the whole, or all of it is not wanted", async () => {
    const page = whole(tables.kernels(SEL), false).result;
    await waitFor(() => expect(page.current.data?.rows.name).toHaveLength(200));
    total = 10;
    const all = whole(tables.kernels(SEL), true).result;
    await waitFor(() => expect(all.current.data?.rows.name).toHaveLength(10));
    expect(limits()).toEqual([null, null]);
  });

  it("is not asked for while there is no trace", () => {
    expect(whole(tables.kernels(null), true).result.current.data).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

it("knows what a chart of the first rows leaves out", () => {
  const rows = { name: ["a", "b"], total_ns: [6, 4] };
  const time = { key: "total_ns", label: "Total", type: "number", unit: "ns" } as const;
  expect(
    notHere({ meta: { total: 5 }, columns: [{ ...time, sum: 17 }], rows }, "total_ns"),
  ).toEqual({ count: 3, value: 7 });
  expect(notHere({ meta: { total: 2 }, columns: [time], rows }, "total_ns")).toEqual({
    count: 0,
    value: 0,
  });
});
