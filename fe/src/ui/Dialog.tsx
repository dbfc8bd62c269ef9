import { type ReactNode, useEffect, useId, useRef } from "react";
import { t } from "../i18n";
import { Icon } from "./Icon";
import "./dialog.css";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog; mounted means open. */
export function Dialog({ title, onClose, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the dialog closes on Escape by itself
    <dialog
      ref={ref}
      className="dialog"
      aria-labelledby={id}
      onClose={() => {
        if (!ref.current?.open) onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) ref.current.close();
      }}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          className="button quiet icon"
          aria-label={t.panel.close}
          // The browser gives the focus back to where it was.
          onClick={() => ref.current?.close()}
        >
          <Icon name="close" />
        </button>
      </div>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}
