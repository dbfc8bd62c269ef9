import { flameTexts } from "../i18n";
import { Link } from "./Button";
import "./crumbs.css";

interface Props<K extends string | number> {
  /** Its name. */
  readonly label?: string;
  /** What everything is called by. */
  readonly root: K;
  /** From the top down to what is shown; empty when everything is. */
  readonly chain: readonly { readonly key: K; readonly label: string }[];
  readonly onFocus: (key: K) => void;
  /** Shown of a long way: its last steps. */
  readonly most?: number;
}

/** The way to what is shown, and out of it. */
export function Crumbs<K extends string | number>(props: Props<K>) {
  const { label = flameTexts.zoom, root, chain, onFocus, most = 3 } = props;
  const between = chain.length - most;
  const everything = { key: root, label: flameTexts.everything };
  const last = chain.at(-1) ?? everything;
  const step = (each: typeof everything) => (
    <li key={each.key}>
      {each.key === last.key ? (
        <span aria-current="location" title={each.label}>
          {each.label}
        </span>
      ) : (
        <Link title={each.label} onClick={() => onFocus(each.key)}>
          {each.label}
        </Link>
      )}
    </li>
  );
  return (
    <nav className="crumbs" aria-label={label}>
      <ol>
        {step(everything)}
        {between > 0 && <li className="muted">{flameTexts.between(between)}</li>}
        {chain.slice(Math.max(0, between)).map(step)}
      </ol>
    </nav>
  );
}
