import "./swatch.css";

/** The colour of a series or category, in front of its name. */
export function Swatch({ color }: { readonly color: string }) {
  return <i className="swatch" style={{ background: color }} />;
}

interface Part {
  readonly key: string;
  readonly color: string;
  /** Of any unit: parts share the width by it. */
  readonly size: number;
  readonly title?: string;
}

/** Parts of a whole in one bar; what it says stands beside it in words. */
export function PartsBar({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <div className="parts-bar" aria-hidden="true">
      {parts.map(({ key, color, size, title }) => (
        <i key={key} title={title} style={{ flexGrow: Math.max(0, size), background: color }} />
      ))}
    </div>
  );
}
