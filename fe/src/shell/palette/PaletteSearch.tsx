/** The field of the palette and what it finds. */
import {
  type KeyboardEvent,
  useDeferredValue,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Status } from "../../api";
import { count } from "../../format";
import { dialogsTexts, t } from "../../i18n";
import type { CurrentTrace } from "../../state";
import { Each, move } from "../../ui";
import type { Commands } from "./commands";
import { useEntries } from "./entries";
import { type Entry, lettersOf, search, wordsOf } from "./search";

const text = dialogsTexts.palette;

/** Who wants one further down types another letter. */
const SHOWN = 50;

interface Props {
  status: Status | undefined;
  current: CurrentTrace;
  commands: Commands;
  /** What is in the field. */
  typed: string;
  onType: (text: string) => void;
  onDone: (chosen: Entry) => void;
}

export default function PaletteSearch({ status, current, commands, ...props }: Props) {
  return <Search {...useEntries(status, current, commands)} {...props} />;
}

interface SearchProps extends Pick<Props, "typed" | "onType" | "onDone"> {
  entries: readonly Entry[];
  /** More entries are on their way. */
  loading: boolean;
}

export function Search({ entries, loading, typed: query, onType, onDone }: SearchProps) {
  const id = useId();
  const [active, setActive] = useState(0);
  const activeItem = useRef<HTMLDivElement>(null);
  // Typing is not held up by the search through all names.
  const settled = useDeferredValue(query);
  const found = useMemo(() => search(entries, settled, SHOWN), [entries, settled]);
  const words = useMemo(() => wordsOf(settled), [settled]);
  const at = Math.min(active, found.entries.length - 1);

  // biome-ignore lint/correctness/useExhaustiveDependencies: follows the active entry as it changes
  useEffect(() => {
    activeItem.current?.scrollIntoView({ block: "nearest" });
  }, [at, settled]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      // What was typed last may not have been searched for yet.
      const now = settled === query ? found : search(entries, query, SHOWN);
      const chosen = now.entries[settled === query ? at : 0];
      if (chosen) onDone(chosen);
      return;
    }
    // Home and End belong to the text.
    if (event.key === "Home" || event.key === "End") return;
    const next = move(event.key, at, found.entries.length);
    if (next === null) return;
    event.preventDefault();
    setActive(next);
  };

  return (
    <>
      <input
        className="palette-field"
        role="combobox"
        aria-label={t.palette.title}
        aria-expanded={found.entries.length > 0}
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        placeholder={t.palette.hint}
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: a dialog that consists of a field to type into
        autoFocus
        value={query}
        onChange={(event) => {
          onType(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className="palette-list" id={`${id}-list`} role="listbox" aria-label={text.results}>
        <Each of={found.entries}>
          {(entry, index) => (
            <div
              ref={index === at ? activeItem : undefined}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              onPointerMove={() => setActive(index)}
              onClick={() => onDone(entry)}
            >
              <span className="palette-label" title={entry.label}>
                <Label text={entry.label} words={words} />
              </span>
              <span className="palette-kind">{text.kinds[entry.kind]}</span>
              {entry.keys && <kbd>{entry.keys}</kbd>}
            </div>
          )}
        </Each>
      </div>
      <p className="palette-foot" role="status">
        {found.total === 0
          ? text.nothing
          : found.total > found.entries.length
            ? text.some(count(found.entries.length), count(found.total))
            : text.all(found.total)}
        {loading && <span> · {text.loading}</span>}
      </p>
    </>
  );
}

/** A name, with the letters that it was found by. */
function Label({ text: label, words }: { text: string; words: readonly string[] }) {
  const letters = lettersOf(label, words);
  if (letters.size === 0) return label;
  const parts: { text: string; found: boolean }[] = [];
  // By code units, as they were looked for.
  for (let at = 0; at < label.length; at++) {
    const found = letters.has(at);
    const last = parts.at(-1);
    if (last && last.found === found) last.text += label[at];
    else parts.push({ text: label[at] ?? "", found });
  }
  return <Each of={parts}>{({ text: part, found }) => (found ? <mark>{part}</mark> : part)}</Each>;
}
