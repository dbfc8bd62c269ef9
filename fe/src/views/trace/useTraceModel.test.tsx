import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen } from "@testing-library/react";
import { StrictMode, useEffect, useState, useSyncExternalStore } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createQueryClient, setBase } from "../../api";
import { LaneTiles } from "../../timeline";
import { LOOK, metaOf, tileBytes } from "../../timeline/cases";
import type { TraceModel } from "./model";
import { useTraceModel } from "./useTraceModel";

const { trace } = vi.hoisted(() => ({
  trace: {
    current: { sel: { run: "r", worker: "a", span: "1" } as Record<string, string>, run: null },
  },
}));
vi.mock("../../state", async (original) => ({
  ...(await original<object>()),
  useTrace: () => trace.current,
}));

beforeEach(() => {
  setBase(new URL("http://localhost/"));
  vi.stubGlobal("fetch", async (url: URL, { signal }: RequestInit) => {
    await new Promise((done) => setTimeout(done));
    if (signal?.aborted) throw new DOMException("aborted", "AbortError");
    if (url.pathname.endsWith("/tiles"))
      return new Response(tileBytes({ 0: [{ start: 1, end: 9, row: 1 }] }));
    if (url.pathname.endsWith("/overview"))
      return Response.json({ begin_ns: 0, end_ns: 1, aligned: true, workers: [], absent: [] });
    if (url.pathname.endsWith("/slice"))
      return Response.json({ row: 7, lane: 0, start_ns: 2, duration_ns: 8, chain: [] });
    return Response.json(metaOf());
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const WINDOW = { start: 0, end: 1_000 };
let shown: TraceModel;

/** Asks for a tile as a frame does, and says how many tiles there are to draw. */
function Probe() {
  const [frame, setFrame] = useState(0);
  const model = useTraceModel();
  shown = model;
  const { ranks, rows } = useSyncExternalStore(model.subscribe, model.get);
  const [rank] = ranks;
  useEffect(() => {
    if (!rank) return;
    rank.want(new Map([[LaneTiles, rows.rows]]), { level: 0, window: WINDOW, look: LOOK });
    return rank.subscribe(() => setFrame((before) => before + 1));
  }, [rank, rows]);
  const tiles = rank?.source(LaneTiles).pieces(0, 0, WINDOW).length ?? 0;
  return (
    <p data-frame={frame}>
      {rank?.worker ?? "nothing"}: {tiles} tiles
    </p>
  );
}

it("has tiles when the view is opened again under StrictMode, which mounts everything twice", async () => {
  const client = createQueryClient();
  const page = () => (
    <StrictMode>
      <QueryClientProvider client={client}>
        <Probe />
      </QueryClientProvider>
    </StrictMode>
  );
  const first = render(page());
  await screen.findByText("a: 1 tiles");
  first.unmount();
  render(page());
  await screen.findByText("a: 1 tiles");
});

it("shows nothing of the rank before once another one is chosen", async () => {
  const client = createQueryClient();
  const page = () => (
    <QueryClientProvider client={client}>
      <Probe />
    </QueryClientProvider>
  );
  const { rerender } = render(page());
  await screen.findByText("a: 1 tiles");
  trace.current = { ...trace.current, sel: { run: "r", worker: "b", span: "1" } };
  rerender(page());
  expect(screen.queryByText(/^a:/)).toBeNull();
  await screen.findByText("b: 1 tiles");
});

it("shows a clicked slice at once, and what is said of it when that has come", async () => {
  const client = createQueryClient();
  render(
    <QueryClientProvider client={client}>
      <Probe />
    </QueryClientProvider>,
  );
  await screen.findByText(/1 tiles/);
  const { worker } = shown.get().ranks[0] ?? { worker: "" };
  const clicked = { worker, row: 7, lane: 0, start: 1, duration: 8 };
  act(() => shown.pick(clicked, true));
  expect(shown.get().event).toMatchObject({ row: 7, picked: clicked, details: null });
  await vi.waitFor(() => expect(shown.get().event.details?.row).toBe(7));
  expect(shown.get().event.picked).toEqual({ ...clicked, start: 2 });
  act(() => shown.pick(null));
  expect(shown.get().event).toMatchObject({ row: null, picked: null });
});

it("says the same as long as it means the same", async () => {
  const client = createQueryClient();
  const page = () => (
    <QueryClientProvider client={client}>
      <Probe />
    </QueryClientProvider>
  );
  const { rerender } = render(page());
  await screen.findByText(/1 tiles/);
  const before = shown.get();
  trace.current = { ...trace.current };
  rerender(page());
  expect(shown.get()).toBe(before);
});
