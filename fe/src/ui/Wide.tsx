import { type ReactNode, useRef } from "react";
import { Edges } from "./Edges";

interface Props {
  readonly className?: string;
  /** Of a region that is reached by keyboard, where nothing in it is. */
  readonly label?: string;
  readonly children: ReactNode;
}

/** Around what may be wider than its place: it scrolls sideways, with a shadow at the side where there is more of it. */
export function Wide({ className = "", label, children }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const region = label === undefined ? {} : { role: "region", "aria-label": label, tabIndex: 0 };
  return (
    <Edges scroller={scroller}>
      <div ref={scroller} className={`wide ${className}`.trim()} {...region}>
        {children}
      </div>
    </Edges>
  );
}
