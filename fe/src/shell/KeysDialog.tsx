import { Fragment } from "react";
import { t } from "../i18n";
import { JUMP_KEYS, useViewId, VIEW_IDS } from "../state";
import { Dialog } from "../ui";
import "./keysDialog.css";

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

/** Of the timeline, `timeline/keys.ts` and `timeline/gestures.ts`. */
const TIMELINE_KEYS: readonly [string[], string][] = [
  [["w", "s"], t.timeline.keys.zoom],
  [["a", "d"], t.timeline.keys.pan],
  [["←", "→"], t.timeline.keys.neighbour],
  [["↑", "↓"], t.timeline.keys.depth],
  [[",", "."], t.timeline.keys.sameName],
  [["[", "]"], t.timeline.keys.step],
  [["f"], t.timeline.keys.fit],
  [["0", "Home"], t.timeline.keys.all],
  [["m"], t.timeline.keys.range],
  [["p"], t.timeline.keys.pin],
  [["b"], t.timeline.keys.bookmark],
  [["Enter"], t.timeline.keys.inspect],
  [[t.timeline.keys.wheelKeys], t.timeline.keys.wheel],
  [[t.timeline.keys.dragKeys], t.timeline.keys.drag],
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  const [view] = useViewId();
  return (
    <Dialog title={t.keys.title} onClose={onClose}>
      {view === "trace" && (
        <>
          <h3>{t.timeline.keys.title}</h3>
          <KeyList keys={TIMELINE_KEYS} />
          <h3>{t.keys.everywhere}</h3>
        </>
      )}
      <KeyList keys={KEYS} />
      <p className="muted keys-more">{t.keys.more}</p>
    </Dialog>
  );
}

function KeyList({ keys: list }: { keys: readonly [string[], string][] }) {
  return (
    <dl className="keys">
      {list.map(([keys, text]) => (
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
  );
}
