import { momentIn } from "../../draw";
import { exact } from "../../format";
import { memoryTexts as text } from "../../i18n";
import { ShowIn } from "../../shell/findings";
import type { ViewLook } from "../../state";
import { numberAt, type Rows } from "../../table";
import { Button } from "../../ui";
import type { Look } from "./useLook";

interface Props {
  readonly rows: Rows;
  readonly row: number;
  readonly look: Look;
}

/** The two ends of a block, as ways to the curve. */
export function BlockDetails({ rows, row, look }: Props) {
  const { whole, setCursor, setRange } = look;
  const start = numberAt(rows, "alloc_ns", row);
  const end = numberAt(rows, "release_ns", row);
  const ends = [
    { label: text.allocatedAt, time: start },
    { label: text.releasedAt, time: end },
  ];
  return (
    <div className="row num">
      {ends.map(({ label, time }) => (
        <span key={label}>
          {label}{" "}
          {time === null ? (
            <span className="muted">{text.notRecorded}</span>
          ) : (
            <>
              <span title={exact(time, "ns")}>{momentIn(time, { start: 0, end: time }, 1e6)}</span>{" "}
              <Button
                aria-label={text.setMomentOf(label, exact(time, "ns"))}
                onClick={() => setCursor(time)}
              >
                {text.setMoment}
              </Button>
            </>
          )}
        </span>
      ))}
      <Button onClick={() => setRange({ start: start ?? whole.start, end: end ?? whole.end })}>
        {text.zoomLifetime}
      </Button>
      {start !== null && (
        <ShowIn view="trace" select={null} look={lifetime(start, end ?? whole.end)} />
      )}
    </div>
  );
}

/** The timeline around a block's life, which is marked there. */
function lifetime(start: number, end: number): ViewLook<"trace"> {
  const around = Math.max(1_000, Math.round((end - start) / 4));
  return {
    mark: { kind: "measure", window: { start, end: Math.max(end, start + 1) } },
    event: null,
    window: { start: start - around, end: end + around },
  };
}
