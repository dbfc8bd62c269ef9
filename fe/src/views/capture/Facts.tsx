/** Names with values; what comes from the trace is text. */
export interface Fact {
  name: string;
  value: string;
  help?: string;
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="facts">
      {facts.map(({ name, value, help }) => (
        <div key={name}>
          <dt title={help}>{name}</dt>
          <dd className="num">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
