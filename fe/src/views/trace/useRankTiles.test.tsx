import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { StrictMode, useEffect, useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createQueryClient, type RankClock, type RunOverview, setBase } from "../../api";
import { LaneTiles, layOut } from "../../timeline";
import { LOOK, metaOf, tileBytes } from "../../timeline/cases";
import { UNARRANGED } from "../../timeline/layout";
import { apart, useRankTiles } from "./useRankTiles";

const { trace } = vi.hoisted(() => ({
  trace: {
    current: { sel: { run: "r", worker: "a", span: "1" } as Record<string, string>, run: null },
  },
}));
vi.mock("../../state", () => ({ useTrace: () => trace.current }));

beforeEach(() => {
  setBase(new URL("http://localhost/"));
  vi.stubGlobal("fetch", async (url: URL, { signal }: RequestInit) => {
    await new Promise((done) => setTimeout(done));
    if (signal?.aborted) throw new DOMException("aborted", "AbortError");
    if (url.pathname.endsWith("/tiles"))
      return new Response(tileBytes({ 0: [{ start: 1, end: 9, row: 1 }] }));
    if (url.pathname.endsWith("/overview"))
      return Response.json({ begin_ns: 0, end_ns: 1, aligned: true, workers: [], absent: [] });
    return Response.json(metaOf());
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const NONE: string[] = [];
const WINDOW = { start: 0, end: 1_000 };

/** Asks for a tile as a frame does, and says how many tiles there are to draw. */
function Probe() {
  const [frame, setFrame] = useState(0);
  const [source] = useRankTiles(NONE).sources;
  useEffect(() => {
    if (!source) return;
    const { rows } = layOut(source.tracks, UNARRANGED);
    source.want(new Map([[LaneTiles, rows]]), { level: 0, window: WINDOW, look: LOOK });
    return source.subscribe(() => setFrame((before) => before + 1));
  }, [source]);
  const tiles = source?.source(LaneTiles).pieces(0, 0, WINDOW).length ?? 0;
  return (
    <p data-frame={frame}>
      {source?.worker ?? "nothing"}: {tiles} tiles
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

it("puts ranks beside each other by their common clock, and by their files' where there is none", () => {
  const worker = (name: string, offset_ns: number) => ({ worker: name, offset_ns });
  const overview = { workers: [worker("a", 5), worker("b", 1_000)] } as unknown as RunOverview;
  const clock = { workers: ["a", "b", "c"], shift_ns: [0, -40, null] } as unknown as RankClock;
  expect(apart(overview, clock, "a", "b")).toBe(-40);
  expect(apart(overview, clock, "b", "a")).toBe(40);
  expect(apart(overview, null, "a", "b")).toBe(995);
  expect(apart(overview, clock, "a", "c")).toBe(-5);
  expect(apart(null, null, "a", "b")).toBe(0);
});
