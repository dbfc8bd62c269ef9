/** The options of a picker and the filter above them. */
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type CSSProperties,
  type KeyboardEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { onOneLine } from "../format";
import { dialogsTexts } from "../i18n";
import { matching, move, type Option } from "./options";

const text = dialogsTexts.combo;

/** Of an option on one line. */
const OPTION_HEIGHT = 28;
const OVERSCAN = 8;

interface ListProps {
  id: string;
  label: string;
  value: string | null;
  options: readonly Option[];
  onDone: (value: string | null) => void;
}

export default function ComboList({ id, label, value, options, onDone }: ListProps) {
  const [filter, setFilter] = useState("");
  const found = useMemo(() => matching(options, filter), [options, filter]);
  const [active, setActive] = useState(() =>
    Math.max(
      0,
      found.findIndex((option) => option.value === value),
    ),
  );
  const input = useRef<HTMLInputElement>(null);
  // Rows are placed one by one, so the list cannot see for itself how wide they are.
  const widest = useMemo(
    () => Math.max(0, ...options.map(({ label, detail = "" }) => label.length + detail.length)),
    [options],
  );

  useEffect(() => {
    input.current?.focus();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      onDone(found[active]?.value ?? null);
      return;
    }
    const next = move(event.key, active, found.length);
    if (next === null) return;
    event.preventDefault();
    setActive(next);
  };

  return (
    <div className="combo-pop" style={{ "--widest": `${widest}ch` } as CSSProperties}>
      <input
        ref={input}
        className="combo-filter"
        role="combobox"
        aria-label={text.filter(label)}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-activedescendant={found[active] ? `${id}-${active}` : undefined}
        placeholder={text.filter(label)}
        autoComplete="off"
        spellCheck={false}
        value={filter}
        onChange={(event) => {
          setFilter(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Listbox
        id={id}
        label={label}
        value={value}
        found={found}
        active={active}
        onActive={setActive}
        onDone={onDone}
      />
      {found.length === 0 && <p className="combo-foot muted">{text.noMatch}</p>}
    </div>
  );
}

interface ListboxProps extends Omit<ListProps, "options"> {
  readonly found: readonly Option[];
  readonly active: number;
  readonly onActive: (index: number) => void;
}

/** Those that the filter left over; only what is in sight is there. */
function Listbox({ id, label, value, found, active, onActive, onDone }: ListboxProps) {
  const list = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: found.length,
    getScrollElement: () => list.current,
    estimateSize: () => OPTION_HEIGHT,
    getItemKey: (index) => found[index]?.value ?? index,
    overscan: OVERSCAN,
    useFlushSync: false,
  });
  useEffect(() => {
    if (found[active]) virtual.scrollToIndex(active, { align: "auto" });
  }, [found, active, virtual]);
  return (
    <div className="combo-list" ref={list} id={`${id}-list`} role="listbox" aria-label={label}>
      <div role="presentation" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const option = found[index];
          if (!option) return null;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              id={`${id}-${index}`}
              role="option"
              aria-selected={option.value === value}
              aria-setsize={found.length}
              aria-posinset={index + 1}
              className={index === active ? "active" : undefined}
              style={{ transform: `translateY(${start}px)` }}
              onPointerMove={() => onActive(index)}
              // The focus stays in the filter: where something around can have it, the list would close.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => onDone(option.value)}
            >
              <span className="combo-option" title={option.title}>
                {onOneLine(option.label)}
              </span>
              {option.detail && <span className="muted">{option.detail}</span>}
            </div>
          );
        })}
      </div>
    </div>
  );
}
