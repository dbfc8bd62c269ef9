import { useEffect, useId, useState } from "react";
import { stacksTexts as text } from "../../i18n";
import { Help } from "../../ui";

/** The server is asked when the typing rests. */
const REST_MS = 350;

interface Props {
  readonly value: string;
  readonly onChange: (files: string) => void;
}

export function Files({ value, onChange }: Props) {
  const id = useId();
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => {
    if (draft === null) return;
    const timer = setTimeout(() => {
      onChange(draft.trim());
      setDraft(null);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [draft, onChange]);
  return (
    <div className="stacks-files">
      <label htmlFor={id} className="muted">
        {text.files}
      </label>
      <input
        id={id}
        className="filter-input"
        autoComplete="off"
        spellCheck={false}
        placeholder={text.filesHint}
        value={draft ?? value}
        onChange={(event) => setDraft(event.target.value)}
      />
      <Help title={text.files}>{text.filesHelp}</Help>
    </div>
  );
}
