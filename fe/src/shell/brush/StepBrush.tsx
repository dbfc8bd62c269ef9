/** The steps of the trace as a small strip, on which those to look at are chosen. */
// biome-ignore-all lint/a11y/useSemanticElements: a range with two ends is no input element
import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { duration, count as inDigits } from "../../format";
import { t } from "../../i18n";
import type { StepList, StepRange } from "../../state";
import {
  barHeights,
  barPath,
  dragged,
  type Grip,
  gripAt,
  keyTarget,
  moveEnd,
  stepAt,
  type Thumb,
} from "./strip";
import "./brush.css";

/** The most bars that can be told apart. */
const COLUMNS = 160;
/** Pixels around an end that still mean this end. */
const REACH = 6;
/** Holding an arrow key should ask the server once, not at every step. */
const SETTLE_MS = 350;

const THUMBS: readonly Thumb[] = ["first", "last"];

interface Props {
  steps: StepList;
  /** Null: all steps. */
  range: StepRange | null;
  onChange: (range: StepRange | null) => void;
}

export function StepBrush({ steps, range, onChange }: Props) {
  const count = steps.names.length;
  const strip = useRef<HTMLDivElement>(null);
  const grip = useRef<Grip | null>(null);
  /** Where the pointer went down. */
  const pressed = useRef(0);
  // What is being chosen; the views follow when it is.
  const [draft, setDraft] = useState<StepRange | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const path = useMemo(() => barPath(barHeights(steps.duration_ns, COLUMNS)), [steps]);
  const shown = draft ?? range ?? { first: 0, last: count - 1 };
  const settle = useSettle(onChange, setDraft, count);

  const placeOf = (event: PointerEvent) => {
    const box = strip.current?.getBoundingClientRect();
    return box && box.width > 0 ? (event.clientX - box.left) / box.width : 0;
  };

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const width = strip.current?.clientWidth || 1;
    const place = placeOf(event);
    grip.current = gripAt(place, shown, count, REACH / width);
    pressed.current = place;
    strip.current?.setPointerCapture(event.pointerId);
    const { current } = grip;
    if (current.kind === "new") setDraft(dragged(current, shown, place, count));
    else setDraft(shown);
  };
  const onPointerMove = (event: PointerEvent) => {
    const place = placeOf(event);
    setPointed(stepAt(place, count));
    if (grip.current) setDraft(dragged(grip.current, shown, place, count));
  };
  const onPointerUp = (event: PointerEvent) => {
    const held = grip.current;
    grip.current = null;
    if (!held || !draft) return;
    const place = placeOf(event);
    const at = stepAt(place, count);
    // Inside the range a click that moved nothing chooses one step, as it does elsewhere.
    const still = held.kind === "shift" && held.from === at;
    // Where it is released, not where it was last drawn: the last move may not have been drawn yet.
    const chosen = place === pressed.current ? draft : dragged(held, shown, place, count);
    settle.now(still ? { first: at, last: at } : chosen);
  };
  const onPointerCancel = () => {
    grip.current = null;
    setDraft(null);
  };

  const onKeyDown = (event: KeyboardEvent, thumb: Thumb) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      settle.now(null);
      return;
    }
    const to = keyTarget(event.key, shown[thumb], count);
    if (to === null) return;
    event.preventDefault();
    const next = moveEnd(shown, thumb, to, count);
    setDraft(next);
    settle.soon(next);
  };

  const left = (shown.first / count) * 100;
  const right = (1 - (shown.last + 1) / count) * 100;
  return (
    <div className="brush" role="group" aria-label={t.range.label}>
      <span className="combo-label" aria-hidden="true">
        {t.range.label}
      </span>
      <div
        ref={strip}
        className={draft || range ? "brush-strip" : "brush-strip all"}
        title={pointed === null ? t.range.hint : stepText(steps, pointed)}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={onPointerCancel}
        onPointerLeave={() => setPointed(null)}
      >
        <svg
          viewBox={`0 0 ${Math.min(count, COLUMNS)} 1`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <path className="brush-all" d={path} />
        </svg>
        <svg
          viewBox={`0 0 ${Math.min(count, COLUMNS)} 1`}
          preserveAspectRatio="none"
          aria-hidden="true"
          style={{ clipPath: `inset(0 ${right}% 0 ${left}%)` }}
        >
          <path className="brush-chosen" d={path} />
        </svg>
        {THUMBS.map((thumb) => (
          <div
            key={thumb}
            className={`brush-thumb ${thumb}`}
            style={thumb === "first" ? { left: `${left}%` } : { right: `${right}%` }}
            role="slider"
            tabIndex={0}
            aria-label={t.range[thumb]}
            aria-orientation="horizontal"
            aria-valuemin={thumb === "first" ? 1 : shown.first + 1}
            aria-valuemax={thumb === "first" ? shown.last + 1 : count}
            aria-valuenow={shown[thumb] + 1}
            aria-valuetext={stepText(steps, shown[thumb])}
            onKeyDown={(event) => onKeyDown(event, thumb)}
            onBlur={settle.flush}
          />
        ))}
      </div>
      <span className="brush-value num" aria-hidden="true">
        {draft || range ? rangeText(steps, shown) : t.range.all(inDigits(count))}
      </span>
    </div>
  );
}

function stepText(steps: StepList, at: number): string {
  return t.range.step(steps.names[at] ?? "", duration(steps.duration_ns[at]));
}

function rangeText({ names }: StepList, { first, last }: StepRange): string {
  return t.range.between(names[first] ?? "", names[last] ?? "");
}

/** Hands over what was chosen: at once, or when the keys have come to rest. */
function useSettle(
  onChange: (range: StepRange | null) => void,
  setDraft: (draft: null) => void,
  count: number,
) {
  const waiting = useRef<StepRange | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const now = useCallback(
    (range: StepRange | null) => {
      clearTimeout(timer.current);
      waiting.current = null;
      const whole = range === null || (range.first === 0 && range.last === count - 1);
      onChange(whole ? null : range);
      setDraft(null);
    },
    [onChange, setDraft, count],
  );
  const flush = useCallback(() => {
    if (waiting.current) now(waiting.current);
  }, [now]);
  const soon = useCallback(
    (range: StepRange) => {
      clearTimeout(timer.current);
      waiting.current = range;
      timer.current = setTimeout(flush, SETTLE_MS);
    },
    [flush],
  );
  useEffect(() => () => clearTimeout(timer.current), []);
  return { now, soon, flush };
}
