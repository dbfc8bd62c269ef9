import { act, renderHook } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { followTheme, useTheme } from "./theme";

afterEach(() => vi.unstubAllGlobals());

it("is what the page has, also when the system has changed and the page does not know yet", () => {
  const system = { matches: false };
  let changed = () => {};
  vi.stubGlobal("matchMedia", () => ({
    get matches() {
      return system.matches;
    },
    addEventListener: (_: string, listener: () => void) => {
      changed = listener;
    },
  }));
  followTheme();
  const { result, rerender } = renderHook(useTheme);
  expect(result.current).toBe("light");

  system.matches = true;
  rerender();
  expect(result.current).toBe(document.documentElement.dataset.theme);
  act(changed);
  expect(result.current).toBe("dark");
  expect(document.documentElement.dataset.theme).toBe("dark");
});
