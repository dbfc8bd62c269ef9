import { useMedia } from "../ui";

/** A window as narrow as half a screen: the menu shows only signs, the drawer lies under the view; see shell.css. */
export function useSmall(): boolean {
  return useMedia("(max-width: 860px)");
}
