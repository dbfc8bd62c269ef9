import { type RefObject, useEffect } from "react";

/**
 * Closes something that floats: on Escape, on a click elsewhere, when the focus leaves. `ref` holds it and the button
 * that opened it, which comes first and has the focus again after Escape.
 */
export function useDismiss(
  open: boolean,
  ref: RefObject<HTMLElement | null>,
  close: () => void,
): void {
  useEffect(() => {
    if (!open) return;
    const onOutside = (event: Event) => {
      if (event.target instanceof Node && !ref.current?.contains(event.target)) close();
    };
    const onEscape = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // The page's own Escape would clear the selection as well.
      event.preventDefault();
      event.stopPropagation();
      // What has the focus is about to go: without this it would fall to the page.
      if (ref.current?.contains(document.activeElement))
        ref.current.querySelector("button")?.focus();
      close();
    };
    document.addEventListener("pointerdown", onOutside, true);
    document.addEventListener("focusin", onOutside, true);
    document.addEventListener("keydown", onEscape, true);
    return () => {
      document.removeEventListener("pointerdown", onOutside, true);
      document.removeEventListener("focusin", onOutside, true);
      document.removeEventListener("keydown", onEscape, true);
    };
  }, [open, ref, close]);
}
