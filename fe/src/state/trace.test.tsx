import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render } from "@testing-library/react";
import { StrictMode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createQueryClient, type Status, setBase } from "../api";
import { runStatus, statusOf, traceStatus } from "../api/cases";
import { type CurrentTrace, TraceProvider, useTrace } from "./trace";

const run = (name: string, newest_ms: number) => ({
  ...runStatus(name, traceStatus({ worker: "w0", span: "1", state: "ready" })),
  newest_ms,
});

beforeEach(() => {
  setBase(new URL("http://localhost/"));
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

it("keeps what was chosen, and the same object for it, while more runs appear", async () => {
  const client = createQueryClient();
  const seen: CurrentTrace[] = [];
  const show = (status: Status) =>
    act(async () => {
      client.setQueryData(["status"], status);
      await new Promise((done) => setTimeout(done));
    });
  function Probe() {
    seen.push(useTrace());
    return null;
  }
  render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <TraceProvider>
          <Probe />
        </TraceProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
  await show(statusOf(run("a", 1), run("b", 2)));
  const first = seen.at(-1);
  expect(first?.sel).toEqual({ run: "b", worker: "w0", span: "1" });
  expect(first?.comparison.suggested?.name.run).toBe("a");
  await show(statusOf(run("a", 1), run("aa", 1), run("b", 2), run("c", 3)));
  expect(seen.at(-1)?.sel).toBe(first?.sel);
  expect(seen.at(-1)?.comparison.suggested?.name.run).toBe("a");
  await show(statusOf(run("c", 3)));
  expect(seen.at(-1)?.sel?.run).toBe("c");
  expect(seen.at(-1)?.comparison.suggested).toBeNull();
});
