import { Fragment } from "react";
import { t } from "../i18n";
import { JUMP_KEYS, VIEW_IDS } from "../state";
import { Dialog } from "./Dialog";

/** Number keys there are. */
const DIGITS = 9;

/** Each with the keys that do the same; a key may be several in a row. */
const KEYS: readonly [string[], string][] = [
  ...VIEW_IDS.map((id, index): [string[], string] => [
    [...(index < DIGITS ? [String(index + 1)] : []), `g ${JUMP_KEYS[id]}`],
    t.keys.view(t.views[id]),
  ]),
  [["Ctrl K", "⌘ K"], t.keys.palette],
  [["/"], t.keys.filter],
  [["Esc"], t.keys.escape],
  [["?"], t.keys.help],
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t.keys.title} onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key, index) => (
                <Fragment key={key}>
                  {index > 0 && ` ${t.keys.or} `}
                  {key.split(" ").map((part) => (
                    <kbd key={part}>{part}</kbd>
                  ))}
                </Fragment>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p className="muted keys-more">{t.keys.more}</p>
    </Dialog>
  );
}
