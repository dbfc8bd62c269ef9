import { Fragment } from "react";
import { dialogsTexts, timelineTexts } from "../i18n";
import { allViews, type CurrentTrace, useViewId } from "../state";
import { Dialog } from "../ui";
import { Licences } from "./Licences";
import { isOf } from "./presence";
import "./keysDialog.css";

const words = dialogsTexts.keys;

/** Each with the keys that do the same; a key may be several in a row. */
const keys = ({ trace, run }: CurrentTrace): readonly [string[], string][] => [
  ...allViews().flatMap(({ id, name, key, digit }): [string[], string][] =>
    isOf(id, trace, run)
      ? [[[...(digit ? [String(digit)] : []), `g ${key}`], words.view(name)]]
      : [],
  ),
  [["Ctrl K", "⌘ K"], words.palette],
  [["/"], words.filter],
  [["Esc"], words.escape],
  [["?"], words.help],
];

/** Of the timeline, `timeline/keys.ts` and `timeline/gestures.ts`. */
const TIMELINE_KEYS: readonly [string[], string][] = [
  [["w", "s"], timelineTexts.keys.zoom],
  [["a", "d"], timelineTexts.keys.pan],
  [["←", "→"], timelineTexts.keys.neighbour],
  [["↑", "↓"], timelineTexts.keys.depth],
  [[",", "."], timelineTexts.keys.sameName],
  [["[", "]"], timelineTexts.keys.step],
  [["u", "Shift u"], timelineTexts.keys.chain],
  [["r"], timelineTexts.keys.partner],
  [["x", timelineTexts.keys.measureKeys], timelineTexts.keys.measure],
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

interface Props {
  /** What is shown. */
  current: CurrentTrace;
  onClose: () => void;
}

export default function KeysDialog({ current, onClose }: Props) {
  const [view] = useViewId();
  return (
    <Dialog title={words.title} onClose={onClose}>
      {view === "trace" && (
        <>
          <h3>{timelineTexts.keys.title}</h3>
          <KeyList keys={TIMELINE_KEYS} />
          <h3>{words.everywhere}</h3>
        </>
      )}
      <KeyList keys={keys(current)} />
      <p className="muted keys-more">{words.more}</p>
      <Licences />
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
                {index > 0 && ` ${words.or} `}
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
