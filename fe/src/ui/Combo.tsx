/** A picker with a filter, for lists of one to a thousand runs or ranks. */
import { useCallback, useId, useRef, useState } from "react";
import { onOneLine } from "../format";
import { t } from "../i18n";
import { Boundary } from "./Boundary";
import { useDismiss } from "./dismiss";
import { Icon } from "./Icon";
import { later } from "./later";
import type { Option } from "./options";
import "./combo.css";

/** Fetched when a picker is pointed at or focused, to be there when it opens. */
const ComboList = later(
  () => import("./ComboList"),
  () => null,
);

interface Props {
  label: string;
  /** What it is called where the label alone would not tell it from others; the label is a part of it. */
  name?: string;
  value: string | null;
  options: readonly Option[];
  onChange: (value: string) => void;
}

export function Combo({ label, name = label, value, options, onChange }: Props) {
  const [open, setOpen] = useState(false);
  const ref = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const current = options.find((option) => option.value === value);
  const close = useCallback(() => setOpen(false), []);
  useDismiss(open, ref, close);

  const finish = (next: string | null) => {
    setOpen(false);
    button.current?.focus();
    if (next !== null && next !== value) onChange(next);
  };

  return (
    <div className="combo" ref={ref}>
      <span className="visually-hidden" id={`${id}-label`}>
        {name}
      </span>
      <span className="combo-label" aria-hidden="true">
        {label}
      </span>
      <button
        ref={button}
        type="button"
        className="button combo-button"
        id={`${id}-button`}
        aria-labelledby={`${id}-label ${id}-button`}
        aria-haspopup="listbox"
        aria-expanded={open}
        disabled={options.length === 0}
        title={current?.label}
        onPointerEnter={ComboList.preload}
        onFocus={ComboList.preload}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            setOpen(true);
          }
        }}
      >
        <span className="combo-value">{current ? onOneLine(current.label) : t.bar.none}</span>
        <Icon name="down" />
      </button>
      {open && (
        <Boundary>
          <ComboList id={id} label={name} value={value} options={options} onDone={finish} />
        </Boundary>
      )}
    </div>
  );
}
