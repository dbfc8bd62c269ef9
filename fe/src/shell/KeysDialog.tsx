import { Fragment } from "react";
import { t, timelineTexts } from "../i18n";
import { allViews, useViewId } from "../state";
import { Dialog } from "../ui";
import "./keysDialog.css";

/** Number keys there are. */
const DIGITS = 9;

/** Each with the keys that do the same; a key may be several in a row. */
const keys = (): readonly [string[], string][] => [
  ...allViews().map(({ name, key }, index): [string[], string] => [
    [...(index < DIGITS ? [String(index + 1)] : []), `g ${key}`],
    t.keys.view(name),
  ]),
  [["Ctrl K", "⌘ K"], t.keys.palette],
  [["/"], t.keys.filter],
  [["Esc"], t.keys.escape],
  [["?"], t.keys.help],
];

/** Of the timeline, `timeline/keys.ts` and `timeline/gestures.ts`. */
const TIMELINE_KEYS: readonly [string[], string][] = [
  [["w", "s"], timelineTexts.keys.zoom],
  [["a", "d"], timelineTexts.keys.pan],
  [["←", "→"], timelineTexts.keys.neighbour],
  [["↑", "↓"], timelineTexts.keys.depth],
  [[",", "."], timelineTexts.keys.sameName],
  [["[", "]"], timelineTexts.keys.step],
  [["c"], timelineTexts.keys.along],
  [["n"], timelineTexts.keys.flag],
  [["f"], timelineTexts.keys.fit],
  [["0", "Home"], timelineTexts.keys.all],
  [["m"], timelineTexts.keys.range],
  [["p"], timelineTexts.keys.pin],
  [["b"], timelineTexts.keys.bookmark],
  [["Enter"], timelineTexts.keys.inspect],
  [[timelineTexts.keys.wheelKeys], timelineTexts.keys.wheel],
  [[timelineTexts.keys.dragKeys], timelineTexts.keys.drag],
];

export default function KeysDialog({ onClose }: { onClose: () => void }) {
  const [view] = useViewId();
  return (
    <Dialog title={t.keys.title} onClose={onClose}>
      {view === "trace" && (
        <>
          <h3>{timelineTexts.keys.title}</h3>
          <KeyList keys={TIMELINE_KEYS} />
          <h3>{t.keys.everywhere}</h3>
        </>
      )}
      <KeyList keys={keys()} />
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
