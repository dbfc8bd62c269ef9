import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { Overview } from "../../api";
import { Devices } from "./Devices";
import { Findings } from "./Findings";
import { Verdict } from "./Verdict";

vi.mock("../../charts", () => ({ HBars: () => null, Donut: () => null, StackedBars: () => null }));
afterEach(cleanup);

const NASTY = '<img src=x onerror="alert(1)">';

const FINDING: Overview["findings"][number] = {
  id: "dataloader",
  severity: "high",
  title: NASTY,
  detail: NASTY,
  values: {},
  saving_ns: 59_262_000,
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

it("shows what comes from the trace as text", () => {
  render(
    <>
      <Findings findings={[FINDING]} />
      <Devices
        definitions={DEFINITIONS}
        devices={[
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
            tensor_cores: null,
          },
        ]}
      />
    </>,
  );
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getAllByText(NASTY)).toHaveLength(3);
});

it("links to the web only, and to the view where the evidence is", () => {
  render(<Findings findings={[FINDING]} />);
  expect(screen.getAllByRole("link").map((link) => link.textContent)).toEqual(["docs"]);
  expect(screen.getAllByRole("button", { name: "Show in Operator" })).toHaveLength(1);
});

it("names the largest loss, and what comes after one that takes most of the step", () => {
  const overview = (category: "cpu_exec" | "other") =>
    ({
      meta: { device_type: "CPU" },
      verdict: {
        category,
        share: 0.6,
        largest_loss: "dataloader",
        largest_loss_share: 0.3,
        largest_loss_ns: 1e6,
      },
      findings: [],
    }) as unknown as Overview;
  const { rerender } = render(<Verdict overview={overview("cpu_exec")} />);
  expect(screen.getByText(/Largest loss: DataLoader 30\.0 % \(1 ms per step\)/)).toBeTruthy();
  rerender(<Verdict overview={overview("other")} />);
  expect(screen.getByText(/Largest other loss: DataLoader 30\.0 % \(1 ms per step\)/)).toBeTruthy();
});
