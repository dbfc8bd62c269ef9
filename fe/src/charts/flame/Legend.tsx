import { flameTexts } from "../../i18n";
import { type FlameKind, HUES } from "./colors";

/** Which colour is what, of the kinds there are. */
export function Legend({ kinds }: { kinds: readonly FlameKind[] }) {
  return (
    <ul className="flame-legend" aria-label={flameTexts.legend}>
      {kinds.map((kind) => (
        <li key={kind}>
          <span
            aria-hidden="true"
            style={{ background: `color-mix(in srgb, var(${HUES[kind]}) 50%, var(--surface))` }}
          />
          {flameTexts.kinds[kind]}
        </li>
      ))}
    </ul>
  );
}
