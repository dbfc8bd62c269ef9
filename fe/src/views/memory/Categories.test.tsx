import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { createQueryClient, setBase } from "../../api";
import type { MemoryCategoriesAnswer } from "../../api/schema.gen";
import { CategoriesPanel } from "./Categories";

const { trace } = vi.hoisted(() => ({ trace: { sel: { run: "r", worker: "a", span: "1" } } }));
vi.mock("../../state", async (original) => ({ ...(await original()), useTrace: () => trace }));
vi.mock("../../charts", () => ({
  StackedBars: ({ x, times }: { x: readonly string[]; times?: readonly number[] }) => (
    <p>{`${x.join(", ")} at ${times?.join(", ")}`}</p>
  ),
}));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it("gives its columns their moments, by which the axis has round times", async () => {
  const answer: Pick<MemoryCategoriesAnswer, "devices"> = {
    devices: [
      {
        device: "GPU 0",
        phases: true,
        peak: 8,
        time_ns: [0, 3_274_000, 6_548_000],
        categories: [{ category: "gradient", at_peak: 8, blocks: 1, bytes: [0, 8, 4] }],
      },
    ],
  };
  setBase(new URL("http://localhost/"));
  vi.stubGlobal("fetch", async () => Response.json({ ...answer, meta: { notes: [] } }));
  render(
    <QueryClientProvider client={createQueryClient()}>
      <CategoriesPanel device={null} />
    </QueryClientProvider>,
  );
  expect(await screen.findByText(/ at 0, 3274000, 6548000$/)).toBeTruthy();
});
