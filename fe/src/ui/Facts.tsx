import type { ReactNode } from "react";
import { Link } from "./Button";
import "./facts.css";

interface FactProps {
  readonly name: ReactNode;
  readonly help?: string | null | undefined;
  /** Of the value: all of its digits. */
  readonly title?: string | undefined;
  /** Leads to what the value is made of. */
  readonly onOpen?: () => void;
  /** The value. */
  readonly children: ReactNode;
}

/** A name and what it is, in `Facts`. */
export function Fact({ name, help, title, onOpen, children }: FactProps) {
  return (
    <div>
      <dt title={help ?? undefined}>{name}</dt>
      <dd title={title}>{onOpen ? <Link onClick={onOpen}>{children}</Link> : children}</dd>
    </div>
  );
}

interface FactRow extends Omit<FactProps, "children"> {
  readonly value: ReactNode;
  /** Where several have one name. */
  readonly key?: string;
}

interface Props {
  readonly facts?: readonly FactRow[];
  /** Names beside values, in two columns or at two edges; one after the other; or names above values. */
  readonly look?: "columns" | "edges" | "line" | "above";
  /** Facts that are put together one by one. */
  readonly children?: ReactNode;
}

/** Names and what they are; what comes from a trace is text. */
export function Facts({ facts = [], look = "columns", children }: Props) {
  return (
    <dl className="facts num" data-look={look}>
      {facts.map(({ value, key, ...fact }) => (
        <Fact key={key ?? String(fact.name)} {...fact}>
          {value}
        </Fact>
      ))}
      {children}
    </dl>
  );
}
