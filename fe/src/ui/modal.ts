import { type KeyboardEvent, type MouseEvent, type RefObject, useEffect, useRef } from "react";

interface Modal {
  /** Closes it, which gives the focus back to where it was, and says so. */
  close: () => void;
  /** Of the `<dialog>`. */
  props: {
    ref: RefObject<HTMLDialogElement | null>;
    onClose: () => void;
    onClick: (event: MouseEvent) => void;
    onKeyDown: (event: KeyboardEvent) => void;
  };
}

/**
 * A modal dialog; mounted means open. Its owner knows that it is closed as soon as it is: the browser's own event comes
 * later, and the key that opens the next dialog may be there before it.
 */
export function useModal(onClose: () => void): Modal {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const close = () => {
    ref.current?.close();
    onClose();
  };
  return {
    close,
    props: {
      ref,
      onClose: () => {
        if (!ref.current?.open) onClose();
      },
      onClick: (event) => {
        if (event.target === ref.current) close();
      },
      onKeyDown: (event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        close();
      },
    },
  };
}
