/** Light or dark: what the user chose here, else what TensorBoard shows, else the system. */
import { useSyncExternalStore } from "react";
import { inTensorBoard } from "./frame";
import { read, write } from "./storage";

export type Theme = "light" | "dark";
export type ThemeChoice = "auto" | Theme;

const KEY = "torch-tb-profiler.theme";
// TensorBoard tells its plugins nothing about its theme; it sets this class on its own body.
const HOST_CLASS = "dark-mode";

const listeners = new Set<() => void>();
let choice: ThemeChoice = readChoice();
let watching = false;
let applied: Theme = "light";

function readChoice(): ThemeChoice {
  const stored = read("localStorage", KEY);
  return stored === "light" || stored === "dark" ? stored : "auto";
}

function hostBody(): HTMLElement | null {
  if (!inTensorBoard()) return null;
  try {
    return window.parent.document.body;
  } catch {
    return null;
  }
}

function systemTheme(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** What is wanted; the page has it once `apply` ran. */
function currentTheme(): Theme {
  if (choice !== "auto") return choice;
  const body = hostBody();
  if (body) return body.classList.contains(HOST_CLASS) ? "dark" : "light";
  return systemTheme();
}

function themeChoice(): ThemeChoice {
  return choice;
}

function setThemeChoice(next: ThemeChoice): void {
  choice = next;
  write("localStorage", KEY, next === "auto" ? null : next);
  apply();
}

/** Marks the document and follows the host from now on. */
export function followTheme(): void {
  if (!watching) {
    watching = true;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
    const body = hostBody();
    if (body) {
      new MutationObserver(apply).observe(body, { attributes: true, attributeFilter: ["class"] });
    }
  }
  apply();
}

function apply(): void {
  applied = currentTheme();
  document.documentElement.dataset.theme = applied;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The theme on screen; components that read computed colours redraw when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => applied);
}

export function useThemeChoice(): [ThemeChoice, (next: ThemeChoice) => void] {
  return [useSyncExternalStore(subscribe, themeChoice), setThemeChoice];
}
