import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import "./edges.css";

interface Props {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}

/**
 * Around something that scrolls: a shadow at the side where there is more of it. What is sticky at the start lies over
 * the rows, so that its own shadow says it there (`data-more`, table.css).
 */
export function Edges({ scroller, children }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const [element, around] = [scroller.current, frame.current];
    if (!element || !around) return;
    const measure = () => {
      const more = moreOf(element);
      // Written past React: rows need not be drawn again.
      if (around.dataset.more !== more) around.dataset.more = more;
      around.style.setProperty("--bar", `${element.offsetWidth - element.clientWidth}px`);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // Other columns make the contents wider, not the frame.
    for (const child of element.children) observer.observe(child);
    element.addEventListener("scroll", measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [scroller]);
  return (
    <div ref={frame} className="edges">
      {children}
    </div>
  );
}

type Box = Pick<Element, "scrollLeft" | "scrollWidth" | "clientWidth">;

/** At which sides there is more: `""`, `"start"`, `"end"` or `"start end"`. */
export function moreOf({ scrollLeft, scrollWidth, clientWidth }: Box): string {
  const sides = [];
  // Widths are rounded; where it begins may be a fraction.
  if (scrollLeft > 1) sides.push("start");
  if (scrollLeft + clientWidth < scrollWidth - 1) sides.push("end");
  return sides.join(" ");
}
