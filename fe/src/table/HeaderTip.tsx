import { type ReactNode, useEffect, useState } from "react";

export interface TipPlace {
  /** In the viewport. */
  readonly left: number;
  readonly top: number;
  /** Milliseconds before it appears, so that it does not follow a pointer passing by. */
  readonly delay: number;
}

interface Props {
  readonly id: string;
  readonly place: TipPlace;
  readonly onHide: () => void;
  readonly children: ReactNode;
}

const WIDTH = 340;

/** What a column means. Fixed to the viewport, because the grid it belongs to cuts off what overflows. */
export function HeaderTip({ id, place, onHide, children }: Props) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), place.delay);
    return () => clearTimeout(timer);
  }, [place.delay]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      onHide();
    };
    document.addEventListener("keydown", onKey, true);
    document.addEventListener("scroll", onHide, true);
    return () => {
      document.removeEventListener("keydown", onKey, true);
      document.removeEventListener("scroll", onHide, true);
    };
  }, [onHide]);
  const left = Math.max(8, Math.min(place.left, window.innerWidth - WIDTH - 8));
  return (
    <div
      id={id}
      role="tooltip"
      className="grid-tip"
      hidden={!shown}
      style={{ left, top: place.top, maxWidth: WIDTH }}
    >
      {children}
    </div>
  );
}
