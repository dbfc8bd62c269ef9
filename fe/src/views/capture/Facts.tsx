import { Link } from "../../ui";

/** Names with values; what comes from the trace is text. */
export interface Fact {
  name: string;
  value: string;
  help?: string;
  /** Leads to what the value is made of. */
  onOpen?: () => void;
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(({ name, value, help, onOpen }) => (
        <div key={name}>
          <dt title={help}>{name}</dt>
          <dd className="num">{onOpen ? <Link onClick={onOpen}>{value}</Link> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
