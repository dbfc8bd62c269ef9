import { type KeyboardEvent, useRef } from "react";

/** A switch between a few exclusive choices. */
interface Props<T extends string> {
  label: string;
  /** Whether the label stands in front of the choices, too. */
  labelled?: boolean;
  value: T;
  options: readonly T[];
  /** What they are called. */
  names: Readonly<Record<T, string>>;
  onChange: (value: T) => void;
}

const MOVES: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
};

/** One stop of the Tab key; arrows, Home and End choose, as in every group of radio buttons. */
export function Segmented<T extends string>(props: Props<T>) {
  const { label, labelled = false, value, options, names, onChange } = props;
  const group = useRef<HTMLDivElement>(null);
  const at = options.indexOf(value);

  const choose = (index: number) => {
    const next = options[(index + options.length) % options.length];
    if (next === undefined) return;
    group.current?.querySelectorAll("button")[options.indexOf(next)]?.focus();
    if (next !== value) onChange(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    if (move !== undefined) choose(at + move);
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(options.length - 1);
    else return;
    event.preventDefault();
    // A view may have a meaning of its own for arrows.
    event.stopPropagation();
  };

  const choices = (
    <div
      ref={group}
      className="segmented"
      role="radiogroup"
      aria-label={label}
      onKeyDown={onKeyDown}
    >
      {options.map((option, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a native radio button has no look of its own to give
        <button
          key={option}
          type="button"
          role="radio"
          aria-checked={index === at}
          tabIndex={index === Math.max(0, at) ? 0 : -1}
          onClick={() => onChange(option)}
        >
          {names[option]}
        </button>
      ))}
    </div>
  );
  return labelled ? (
    <span className="segmented-labelled">
      <span className="muted" aria-hidden="true">
        {label}
      </span>
      {choices}
    </span>
  ) : (
    choices
  );
}
