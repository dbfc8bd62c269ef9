import { type FormEvent, type KeyboardEvent, useId, useState } from "react";
import { contains, fieldMoment, middle, moved, scaled, type TimeWindow, windowUnit } from "../draw";
import { DURATION_SYMBOL, parseDuration } from "../format";
import { chartsTexts } from "../i18n";
import { Button, Combo } from "../ui";
import type { CurveSpan } from "./types";
import "./charts.css";
import "./timeCurve.css";

const text = chartsTexts.curve;

interface Props {
  readonly window: TimeWindow;
  readonly whole: TimeWindow;
  readonly zoomed: boolean;
  /** Null: back to everything. */
  readonly onWindow: (window: TimeWindow | null) => void;
  /** Where zooming in goes to, if it is in sight. */
  readonly cursor: number | null;
  readonly spans: readonly CurveSpan[];
  /** What a span is: "Step". */
  readonly spanLabel: string;
}

/** What dragging over a `TimeCurve` does, for the keyboard, and to the nanosecond. */
export function TimeRange(props: Props) {
  const { window, whole, zoomed, onWindow, cursor, spans, spanLabel } = props;
  const around = cursor !== null && contains(window, cursor) ? cursor : middle(window);
  const chosen = spans.findIndex(({ start, end }) => start === window.start && end === window.end);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !zoomed) return;
    event.preventDefault();
    onWindow(null);
  };
  const moves = [
    { label: text.zoomIn, sign: "+", to: () => scaled(window, 0.5, around) },
    { label: text.zoomOut, sign: "−", disabled: !zoomed, to: () => scaled(window, 2, around) },
    {
      label: text.earlier,
      sign: "◀",
      disabled: window.start <= whole.start,
      to: () => moved(window, -0.5, whole),
    },
    {
      label: text.later,
      sign: "▶",
      disabled: window.end >= whole.end,
      to: () => moved(window, 0.5, whole),
    },
  ];
  return (
    <fieldset className="time-range" onKeyDown={onKeyDown}>
      <legend className="visually-hidden">{text.range}</legend>
      <Fields window={window} onWindow={onWindow} />
      {spans.length > 0 && (
        <Combo
          label={spanLabel}
          value={chosen < 0 ? "" : String(chosen)}
          options={[
            { value: "", label: text.anySpan },
            ...spans.map(({ label }, at) => ({ value: String(at), label })),
          ]}
          onChange={(value) => {
            const span = spans[Number(value)];
            onWindow(value === "" || !span ? null : { start: span.start, end: span.end });
          }}
        />
      )}
      <span className="time-range-buttons">
        {moves.map(({ label, sign, disabled = false, to }) => (
          <Button
            key={sign}
            icon
            aria-label={label}
            title={label}
            disabled={disabled}
            onClick={() => onWindow(to())}
          >
            <span aria-hidden="true">{sign}</span>
          </Button>
        ))}
      </span>
      <Button disabled={!zoomed} title={text.resetHint} onClick={() => onWindow(null)}>
        {text.reset}
      </Button>
    </fieldset>
  );
}

interface Draft {
  readonly of: TimeWindow;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

function Fields({ window, onWindow }: Pick<Props, "window" | "onWindow">) {
  // What has been typed and not taken over; it is forgotten when the window becomes another one.
  const [draft, setDraft] = useState<Draft>({ of: window });
  const { from, to } = draft.of === window ? draft : { from: undefined, to: undefined };
  const id = useId();
  const unit = windowUnit(window);
  // The fields show fewer digits than the window has: what was not touched stays as it is.
  const start = from === undefined ? window.start : parseDuration(from, unit);
  const end = to === undefined ? window.end : parseDuration(to, unit);
  const ordered = start !== null && end !== null && start < end;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ordered) onWindow({ start, end });
  };
  return (
    <form className="time-range-fields" onSubmit={submit}>
      <span className="time-range-field">
        <label htmlFor={`${id}from`}>{text.from}</label>
        <input
          id={`${id}from`}
          className="chart-field num"
          autoComplete="off"
          aria-invalid={start === null || (end !== null && !ordered)}
          value={from ?? fieldMoment(window.start, window)}
          onChange={(event) => setDraft({ of: window, from: event.target.value, to })}
        />
      </span>
      <span className="time-range-field">
        <label htmlFor={`${id}to`}>{text.to}</label>
        <input
          id={`${id}to`}
          className="chart-field num"
          autoComplete="off"
          aria-invalid={end === null || (start !== null && !ordered)}
          value={to ?? fieldMoment(window.end, window)}
          onChange={(event) => setDraft({ of: window, from, to: event.target.value })}
        />
        <span className="muted">{DURATION_SYMBOL[unit]}</span>
      </span>
      <Button type="submit" disabled={!ordered || (from === undefined && to === undefined)}>
        {text.apply}
      </Button>
    </form>
  );
}
