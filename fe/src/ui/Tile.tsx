import type { CSSProperties } from "react";
import { unbroken } from "../format";
import { Link } from "./Button";
import "./tile.css";

interface TileProps {
  label: string;
  help?: string;
  value: string;
  /** All digits of the value. */
  title?: string;
  /** Small print: pairs of name and value, or a remark. */
  facts?: readonly (readonly [string, string])[];
  remark?: string;
  /** Leads to what the number is made of. */
  onOpen?: (() => void) | undefined;
}

/** One number of a `<dl className="tiles">`. */
export function Tile({ label, help, value, title, facts = [], remark, onOpen }: TileProps) {
  return (
    <div className="tile" title={help}>
      <dt>{label}</dt>
      <dd
        className="tile-value num"
        title={title}
        style={{ "--letters": value.length } as CSSProperties}
      >
        {onOpen ? (
          <Link aria-label={`${label}: ${value}`} onClick={onOpen}>
            {value}
          </Link>
        ) : (
          value
        )}
      </dd>
      <dd className="tile-facts num">
        {facts.map(([name, fact]) => (
          <span key={name}>
            <span className="muted">{name}</span> {fact}
          </span>
        ))}
        {remark && (
          <span className="muted" title={remark}>
            {unbroken(remark)}
          </span>
        )}
      </dd>
    </div>
  );
}
