/** The drawer at the right: what is selected, whatever view is shown. */
import type { ReactNode } from "react";
import { onOneLine } from "../format";
import { dialogsTexts } from "../i18n";
import {
  type CurrentTrace,
  findView,
  formatRange,
  goToView,
  type Picked,
  page,
  useAddress,
  useViewId,
  viewName,
} from "../state";
import { Button, CopyButton, Icon, Splitter, useWidth } from "../ui";
import { placesOf } from "./places";
import { useSmall } from "./useSmall";
import "./inspector.css";

const text = dialogsTexts.inspector;
const LIMITS = { least: 240, usual: 360, most: 800 };

interface Props {
  selected: Picked;
  current: CurrentTrace;
  onClose: () => void;
  children: ReactNode;
}

export default function Inspector({ selected, current, onClose, children }: Props) {
  const [view] = useViewId();
  const small = useSmall();
  const [width, setWidth] = useWidth("inspector", LIMITS);
  const places = placesOf(selected, current.trace).filter((place) => place.view !== view);
  return (
    <aside className="inspector" style={small ? undefined : { width }} aria-label={text.label}>
      {!small && (
        <Splitter
          label={text.width}
          side="left"
          width={width}
          limits={LIMITS}
          onChange={setWidth}
        />
      )}
      <div className="inspector-scroll">
        <div className="inspector-head">
          <span className="badge">{text.kinds[selected.kind]}</span>
          <Button
            quiet
            icon
            aria-label={text.close}
            title={`${text.close} (Esc)`}
            onClick={onClose}
          >
            <Icon name="close" />
          </Button>
        </div>
        <h2 className="inspector-name">{onOneLine(selected.name)}</h2>
        <div className="inspector-actions">
          <CopyButton text={selected.name} label={text.copyName} />
          {selected.kind === "step" && <OnlyThisStep name={selected.name} current={current} />}
        </div>
        {places.length > 0 && (
          <fieldset className="inspector-places">
            <legend>{text.places}</legend>
            {places.map(({ view: id, look }) => (
              <Button
                key={id}
                aria-label={text.showIn(viewName(id))}
                onClick={() => goToView(id, null, look)}
              >
                <Icon path={findView(id)?.icon ?? ""} />
                {viewName(id)}
              </Button>
            ))}
          </fieldset>
        )}
        <div className="inspector-body">{children}</div>
      </div>
    </aside>
  );
}

/** The brush by another way: from a step to everything that happened in it. */
function OnlyThisStep({
  name,
  current: { steps, range },
}: {
  name: string;
  current: CurrentTrace;
}) {
  const [, setRange] = useAddress(page.steps);
  const at = steps?.names.indexOf(name) ?? -1;
  if (!steps || at < 0 || steps.names.length < 2) return null;
  const only = range?.first === at && range.last === at;
  return (
    <Button
      aria-pressed={only}
      onClick={() => setRange(only ? null : formatRange(steps.names, { first: at, last: at }))}
    >
      {text.onlyStep}
    </Button>
  );
}
