/** A long view in sections, and the bar that jumps to them. */
import { anchor } from "./anchor";
import { Link } from "./Button";
import "./sections.css";

interface Named {
  readonly id: string;
  readonly name: string;
}

export function SectionBar({ label, sections }: { label: string; sections: readonly Named[] }) {
  return (
    <nav className="section-bar" aria-label={label}>
      {sections.map(({ id, name }) => (
        <Link key={id} onClick={() => anchor(id).show()}>
          {name}
        </Link>
      ))}
    </nav>
  );
}

/** Where a section begins. */
export function Section({ id, name }: Named) {
  return (
    <h2 id={id} className="section-title">
      {name}
    </h2>
  );
}
