/** The keys of the page. What they mean is in `shortcuts.ts`. */
import { useEffect } from "react";
import type { ViewId } from "../state";
import { useLatest } from "../ui";
import { actionFor, isTyping } from "./shortcuts";

/** After this long a `g` was no beginning. */
const JUMP_MS = 2_000;

interface Commands {
  view: (view: ViewId) => void;
  palette: () => void;
  help: () => void;
  clear: () => void;
  /** False when there is nothing to filter. */
  filter: () => boolean;
}

/** `active`: false while a dialog is open, which has keys of its own. */
export function useShortcuts(active: boolean, commands: Commands): void {
  const current = useLatest({ active, commands });
  useEffect(() => {
    let jumpUntil = 0;

    const act = (event: KeyboardEvent, jumping: boolean): boolean => {
      const action = actionFor(event, jumping);
      if (!action) return false;
      const typing = isTyping(event.target);
      if (typing && action.type !== "clear" && action.type !== "palette") return false;
      const { commands: run } = current.current;
      switch (action.type) {
        case "view":
          run.view(action.view);
          return true;
        case "jump":
          jumpUntil = event.timeStamp + JUMP_MS;
          return false;
        case "palette":
          run.palette();
          return true;
        case "help":
          run.help();
          return true;
        case "clear":
          if (typing) (event.target as HTMLElement).blur();
          else run.clear();
          return false;
        case "filter":
          return run.filter();
      }
    };

    // Before the view sees it: the letter after g belongs to the page, whatever it means elsewhere.
    const before = (event: KeyboardEvent) => {
      if (!current.current.active) return;
      const jumping = event.timeStamp < jumpUntil && !/^(Shift|Control|Alt|Meta)$/.test(event.key);
      if (jumping) jumpUntil = 0;
      const action = actionFor(event, jumping);
      if (action?.type !== "palette" && !(jumping && action?.type === "view")) return;
      if (act(event, jumping)) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    const after = (event: KeyboardEvent) => {
      if (event.defaultPrevented || !current.current.active) return;
      if (act(event, false)) event.preventDefault();
    };
    document.addEventListener("keydown", before, true);
    document.addEventListener("keydown", after);
    return () => {
      document.removeEventListener("keydown", before, true);
      document.removeEventListener("keydown", after);
    };
  }, [current]);
}
