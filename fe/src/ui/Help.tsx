import { type ReactNode, useCallback, useId, useLayoutEffect, useRef, useState } from "react";
import { t } from "../i18n";
import { useDismiss } from "./dismiss";
import "./help.css";

/** Left free at the edge of the window. */
const MARGIN = 12;

/** The "?" next to a title: definition, formula, source. */
export function Help({ title, children }: { title: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const ref = useRef<HTMLSpanElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  useDismiss(
    open,
    ref,
    useCallback(() => setOpen(false), []),
  );
  useLayoutEffect(() => {
    if (!open || !box.current) return;
    const beyond = box.current.getBoundingClientRect().right + MARGIN - window.innerWidth;
    if (beyond > 0) box.current.style.translate = `${-beyond}px 0`;
  }, [open]);
  return (
    <span className="help" ref={ref}>
      <button
        type="button"
        className="help-button"
        aria-label={t.panel.help(title)}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        ?
      </button>
      {open && (
        <div ref={box} className="help-box" id={id} role="note">
          {children}
        </div>
      )}
    </span>
  );
}
