import type { ReactNode } from "react";
import { Link } from "./Button";
import "./facts.css";

export interface Fact {
  readonly name: ReactNode;
  readonly value: ReactNode;
  /** Where several have one name. */
  readonly key?: string;
  readonly help?: string | null | undefined;
  /** Of the value: all of its digits. */
  readonly title?: string | undefined;
  /** Leads to what the value is made of. */
  readonly onOpen?: () => void;
}

interface Props {
  readonly facts: readonly Fact[];
  /** Names beside values, in two columns or at two edges; one after the other; or names above values. */
  readonly look?: "columns" | "edges" | "line" | "above";
}

/** Names and what they are; what comes from a trace is text. */
export function Facts({ facts, look = "columns" }: Props) {
  return (
    <dl className={`facts ${look} num`}>
      {facts.map(({ name, value, key, help, title, onOpen }) => (
        <div key={key ?? String(name)}>
          <dt title={help ?? undefined}>{name}</dt>
          <dd title={title}>{onOpen ? <Link onClick={onOpen}>{value}</Link> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
