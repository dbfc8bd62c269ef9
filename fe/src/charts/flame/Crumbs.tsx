import { flameTexts } from "../../i18n";
import { Link } from "../../ui";

interface Props {
  /** From the top down to the focus; empty when everything is shown. */
  readonly chain: readonly { readonly key: number; readonly label: string }[];
  readonly onFocus: (key: number) => void;
}

/** Shown of a long way: its last steps. */
const LAST = 3;

/** The way out of a zoom. */
export function Crumbs({ chain, onFocus }: Props) {
  const shown = chain.slice(-LAST);
  const last = chain.at(-1);
  return (
    <nav className="crumbs" aria-label={flameTexts.zoom}>
      <ol>
        <li>
          {last ? (
            <Link onClick={() => onFocus(-1)}>{flameTexts.everything}</Link>
          ) : (
            <span aria-current="location">{flameTexts.everything}</span>
          )}
        </li>
        {chain.length > LAST && (
          <li className="muted">{flameTexts.between(chain.length - LAST)}</li>
        )}
        {shown.map(({ key, label }) => (
          <li key={key}>
            {key === last?.key ? (
              <span aria-current="location" title={label}>
                {label}
              </span>
            ) : (
              <Link title={label} onClick={() => onFocus(key)}>
                {label}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
