/**
 * Before the tests of each file: the views are known, as on the page. Files share a process and its document, as a new
 * one for each costs six times as much: after the last test of a file both are as if it had not been.
 */
import { cleanup } from "@testing-library/react";
import { afterAll, vi } from "vitest";
import { paramStore } from "./state/store";
import "./views/registry";

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.resetModules();
  if (typeof window === "undefined") return;
  cleanup();
  // Nothing waits to be written.
  paramStore().flush();
  document.head.replaceChildren();
  document.body.replaceChildren();
  for (const root of [document.documentElement, document.body])
    for (const name of root.getAttributeNames()) root.removeAttribute(name);
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", location.pathname);
});
