import { type ReactNode, type RefObject, useId, useRef } from "react";
import type { Result } from "../api";
import { Async, type EmptyReason } from "./Async";
import { FullScreen } from "./FullScreen";
import { Help } from "./Help";
import "./panel.css";

interface PanelProps {
  title: string;
  /** Definition, formula, source; behind the "?". */
  help?: ReactNode;
  /** Switches and buttons at the right of the title. */
  actions?: ReactNode;
  className?: string;
  /** What fills the screen in its place: the panel and what belongs to it. */
  full?: RefObject<HTMLElement | null>;
  children: ReactNode;
}

/** The frame around every chart and table. */
export function Panel({ title, help, actions, className = "", full, children }: PanelProps) {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  return (
    <section ref={panel} className={`panel ${className}`} aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {help && <Help title={title}>{help}</Help>}
        {actions && <div className="panel-actions">{actions}</div>}
        <FullScreen target={full ?? panel} title={title} />
      </div>
      <div className="panel-body">{children}</div>
    </section>
  );
}

interface QueryPanelProps<T> extends Omit<PanelProps, "children"> {
  query: Result<T>;
  /** Why there is nothing to draw, or null when there is something. */
  empty?: (data: T) => EmptyReason | null;
  /** See `Async`. */
  usable?: boolean;
  children: (data: T) => ReactNode;
}

/** A panel that waits for an answer and says so when it is late, empty, partial or missing. */
export function QueryPanel<T>({
  query,
  empty,
  usable = false,
  children,
  ...frame
}: QueryPanelProps<T>) {
  return (
    <Panel {...frame}>
      <Async query={query} usable={usable} {...(empty ? { empty } : {})}>
        {children}
      </Async>
    </Panel>
  );
}
