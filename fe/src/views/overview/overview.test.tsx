import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createQueryClient, type Overview } from "../../api";
import { Answer } from "./Answer";
import { Devices } from "./Devices";
import { Findings } from "./Findings";
import { Tiles } from "./Tiles";
import { waterfallRows } from "./waterfallRows";

vi.mock("../../charts", () => ({ HBars: () => null, Donut: () => null, StackedBars: () => null }));
afterEach(cleanup);

const NASTY = '<img src=x onerror="alert(1)">';

const FINDING: Overview["findings"][number] = {
  id: "dataloader",
  key: "dataloader",
  severity: "high",
  confidence: "high",
  title: NASTY,
  detail: NASTY,
  advice: "Use `num_workers=4`.",
  where: {
    text: NASTY,
    operator: null,
    file: "train.py",
    line: 12,
    function: "main",
    module: null,
    annotation: null,
    share: 1,
    missing: null,
    modules: null,
    modules_of_class: null,
  },
  values: {},
  saving: {
    alone_ns: 59_262_000,
    after_others_ns: 59_262_000,
    last_in_ns: 59_262_000,
    low_ns: 54_000_000,
    high_ns: 64_000_000,
    bound: true,
    refused: null,
    refused_id: null,
    refused_share: null,
    share_of_step: null,
    at_most_ns: null,
  },
  instances: [{ row: 7, name: NASTY, start_ns: 5_000, duration_ns: 2_000_000, step: "3" }],
  count: 6,
  evidence: [
    {
      key: "dataloader",
      gpu: null,
      label: "DataLoader",
      value: 59_262_000,
      unit: "ns",
      view: "overview",
      select: null,
    },
    {
      key: "share",
      gpu: null,
      label: "aten::mm",
      value: 0.5,
      unit: "fraction",
      view: "operators",
      select: "op:aten::mm",
    },
  ],
  links: [
    { key: "k", text: "docs", url: "https://pytorch.org/docs" },
    { key: "k", text: "bad", url: "javascript:alert(1)" },
  ],
};

const DEFINITIONS: Overview["definitions"] = {
  kernel: "",
  memcpy: "",
  memset: "",
  communication: "",
  runtime: "",
  dataloader: "",
  cpu_exec: "",
  other: "",
  step: "",
  busy: "",
  sm_efficiency: "",
};

const overviewOf = (more: Partial<Overview>) =>
  ({
    meta: { device_type: "GPU" },
    average: { step_ns: 177_786_000 },
    bound: {
      kind: "input",
      sentence: "Input bounds this run.",
      explained: 0.97,
      confidence: "normal",
      share: 0.33,
      next: "compute",
      reliefs: [],
      values: {},
    },
    findings: [FINDING],
    together_ns: 59_262_000,
    checked: ["tensor_cores"],
    not_evaluated: [{ id: "memory_limit", needs: "memory", text: "needs profile_memory=True" }],
    muted: [],
    waterfall: [],
    not_looked_at: [],
    ...more,
  }) as unknown as Overview;

it("shows what comes from the trace as text", () => {
  render(
    <>
      <Findings overview={overviewOf({})} />
      <Devices
        overview={overviewOf({
          definitions: DEFINITIONS,
          devices: [
            {
              id: 0,
              name: NASTY,
              memory_bytes: null,
              compute_capability: null,
              busy: null,
              computing: null,
              communicating: null,
              exposed_communication: null,
              sm_efficiency: null,
              achieved_occupancy: null,
              occupancy_known_share: null,
              tensor_cores: { yes: null, no: null, unknown: null },
            },
          ],
        })}
      />
    </>,
  );
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getAllByText(NASTY)).toHaveLength(4);
});

it("links to the web only, and to the view where the evidence is", () => {
  render(<Findings overview={overviewOf({})} />);
  expect(screen.getAllByRole("link").map((link) => link.textContent)).toEqual(["docs"]);
  expect(screen.getAllByRole("button", { name: "Show in Operator" })).toHaveLength(1);
});

it("marks in the Trace view what a number seen there is made of", () => {
  const [first] = FINDING.evidence;
  if (first === undefined) throw new Error("no evidence");
  const shown = { ...FINDING, key: "sync-2", evidence: [{ ...first, view: "trace" }] };
  render(<Findings overview={overviewOf({ findings: [shown] })} />);
  fireEvent.click(screen.getByRole("button", { name: "Show in Trace" }));
  expect(new URLSearchParams(location.hash.slice(1)).get("v")).toBe("trace");
  expect(location.hash).toContain("sync-2");
});

it("says what bounds the run, how sure that is, and what the findings save together", () => {
  const another = { ...FINDING, key: "dataloader-2" };
  render(<Answer overview={overviewOf({ findings: [FINDING, another] })} />);
  expect(screen.getByText("Input bounds this run.")).toBeTruthy();
  expect(screen.getByText("97.0 % of the step time explained")).toBeTruthy();
  expect(screen.getByText(/Fixing all 2 findings .* 59\.26 ms per step \(33\.3 %\)/)).toBeTruthy();
  cleanup();
  // What a single one saves stands beside it.
  render(<Answer overview={overviewOf({})} />);
  expect(screen.queryByText(/Fixing/)).toBeNull();
});

it("says what a cause costs, where it is, and what to do", () => {
  render(<Findings overview={overviewOf({})} />);
  expect(screen.getByText(/at most 59\.26 ms per step \(33\.3 %\) \[54 ms, 64 ms\]/)).toBeTruthy();
  expect(screen.getByText("num_workers=4").tagName).toBe("CODE");
  expect(screen.getByRole("button", { name: "2 ms (step 3)" })).toBeTruthy();
  expect(screen.getByText("1 rule could not be checked")).toBeTruthy();
  expect(screen.getByText(/needs profile_memory=True/)).toBeTruthy();
});

it("says which parts of the step no finding is about", () => {
  const waterfall = [{ cause: "compute.gemm", ns: 17_778_600 }];
  render(<Findings overview={overviewOf({ waterfall, not_looked_at: ["compute.gemm"] })} />);
  expect(screen.getByText(/^No finding is about: .* 10\.0 %\.$/)).toBeTruthy();
});

it("hides the findings of a rule, in the address", () => {
  const view = render(<Findings overview={overviewOf({})} />);
  fireEvent.click(screen.getByRole("button", { name: "Hide" }));
  view.rerender(<Findings overview={overviewOf({})} />);
  expect(screen.queryByRole("button", { name: "Hide" })).toBeNull();
  expect(screen.getByText(/Hidden: dataloader/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Show all" }));
  expect(screen.getByRole("button", { name: "Hide" })).toBeTruthy();
});

it("puts work before idle time, and small parts into one row", () => {
  const { rows, total } = waterfallRows([
    { cause: "idle.input", ns: 300 },
    { cause: "compute.gemm", ns: 600 },
    { cause: "idle.sync", ns: 95 },
    { cause: "exposed_copy", ns: 3 },
    { cause: "compute.norm", ns: 2 },
  ]);
  expect(total).toBe(1000);
  expect(rows.map(({ cause, start, others }) => [cause, start, others])).toEqual([
    ["compute.gemm", 0, 0],
    ["idle.input", 600, 0],
    ["idle.sync", 900, 0],
    ["unknown.others", 995, 2],
  ]);
});

describe("the tile of tensor cores", () => {
  type Cores = Overview["device"]["tensor_cores"];
  const facts = (tensor_cores: Cores) => {
    const occupancy = { mean: null, known_share: null };
    const overview = overviewOf({
      steps: { names: [], duration_ns: [], categories: [], category_ns: {} },
      device: { busy: 0.5, computing: 0.5, communicating: 0, tensor_cores, occupancy },
      devices: [],
      definitions: DEFINITIONS,
    } as unknown as Partial<Overview>);
    render(
      <QueryClientProvider client={createQueryClient()}>
        <Tiles overview={overview} />
      </QueryClientProvider>,
    );
    const tile = screen.getByText("Tensor cores").closest(".tile");
    const shown = [...(tile?.querySelectorAll("dd") ?? [])].map((each) =>
      // Numbers do not break from their units.
      each.textContent?.replaceAll("\u00a0", " "),
    );
    return { shown, opens: tile?.querySelector("button") !== null };
  };

  it("has no number where it is unknown for all kernels, and says why", () => {
    const { shown, opens } = facts({ yes: null, no: null, unknown: 1 });
    expect(shown).toEqual(["–", "unknown: the names of the kernels do not show it"]);
    expect(opens).toBe(false);
  });

  it("has the part that is known, and says how much is not", () => {
    const { shown, opens } = facts({ yes: 0, no: 0.25, unknown: 0.75 });
    expect(shown).toEqual(["0.0 %", "75.0 % unknown"]);
    expect(opens).toBe(true);
  });

  it("is not recorded without compute kernels", () => {
    expect(facts({ yes: null, no: null, unknown: null }).shown).toEqual(["–", "not recorded"]);
  });
});
