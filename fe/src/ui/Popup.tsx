import { type ReactNode, useCallback, useRef, useState } from "react";
import { Button } from "./Button";
import { useDismiss } from "./dismiss";
import "./popup.css";

interface Props {
  readonly label: string;
  /** Gets a function that closes the popup. */
  readonly children: (close: () => void) => ReactNode;
}

/** A button with a box below it. */
export function Popup({ label, children }: Props) {
  const [open, setOpen] = useState(false);
  const ref = useRef<HTMLDivElement>(null);
  const close = useCallback(() => setOpen(false), []);
  useDismiss(open, ref, close);
  return (
    <div className="popup" ref={ref}>
      <Button aria-expanded={open} onClick={() => setOpen(!open)}>
        {label} <span aria-hidden="true">▾</span>
      </Button>
      {open && <div className="popup-box">{children(close)}</div>}
    </div>
  );
}
