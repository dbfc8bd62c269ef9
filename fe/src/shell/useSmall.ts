import { useSyncExternalStore } from "react";

/** Below this the menu shows only signs and the drawer lies under the view; see shell.css. */
const SMALL = "(max-width: 860px)";

/** A window as narrow as half a screen. */
export function useSmall(): boolean {
  return useSyncExternalStore(subscribe, isSmall);
}

function isSmall(): boolean {
  return matchMedia(SMALL).matches;
}

function subscribe(changed: () => void): () => void {
  const query = matchMedia(SMALL);
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}
