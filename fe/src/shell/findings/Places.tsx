/** The places in the trace that show a finding; each leads to the Trace view. */

import { duration } from "../../format";
import { overviewTexts } from "../../i18n";
import { viewName } from "../../state";
import { Link } from "../../ui";

const text = overviewTexts.findings;
/** How many places in the trace a finding lists. */
const PLACES = 5;

interface FoundPlace {
  readonly row: number;
  readonly name: string;
  readonly start_ns: number;
  readonly duration_ns: number;
  readonly step: string | null;
  /** Whose trace, where there are several. */
  readonly worker?: string;
}

interface Props<P extends FoundPlace> {
  readonly places: readonly P[];
  readonly count: number;
  readonly onShow: (place: P) => void;
  /** Marks all of them in the Trace view; without it nothing is offered. */
  readonly onMark?: () => void;
}

export function Places<P extends FoundPlace>({ places, count, onShow, onMark }: Props<P>) {
  if (places.length === 0) return null;
  return (
    <p className="row">
      <span className="muted">{text.places(Math.min(PLACES, places.length), count)}</span>
      {places.slice(0, PLACES).map((place) => (
        <Link
          className="num"
          key={`${place.worker ?? ""} ${place.row}`}
          title={place.name}
          onClick={() => onShow(place)}
        >
          {place.worker !== undefined && `${place.worker}: `}
          {text.place(duration(place.duration_ns), place.step)}
        </Link>
      ))}
      {onMark && <Link onClick={onMark}>{text.markAll(viewName("trace"))}</Link>}
    </p>
  );
}
