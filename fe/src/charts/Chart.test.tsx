import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Chart } from "./Chart";

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", false);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(300);
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  document.body.replaceChildren();
});

const build = () => ({
  shapes: [],
  marks: [{ x: 1, y: 1, outline: "M0 0" }],
  at: () => 0,
});

it("takes a click at the moment in which the picture can be seen", async () => {
  const onPick = vi.fn();
  const page = document.createElement("div");
  document.body.append(page);
  const root = createRoot(page);
  // Before React has done what it leaves for later, as a busy machine lets it wait.
  const seen = new Promise<void>((done) => {
    new MutationObserver(() => {
      const canvas = page.querySelector("canvas");
      if (!canvas) return;
      canvas.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: 5, clientY: 5 }));
      done();
    }).observe(page, { childList: true, subtree: true });
  });
  root.render(
    <Chart title="t" summary="s" height={100} build={build} onPick={onPick} head={[]} rows={[]} />,
  );
  await seen;
  expect(onPick).toHaveBeenCalledExactlyOnceWith(0);
  root.unmount();
});
