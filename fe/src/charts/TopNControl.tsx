import { useId, useState } from "react";
import { chartsTexts } from "../i18n";
import { DEFAULT_TOP, parseTopN, type TopN } from "./topN";

interface Props {
  readonly value: TopN;
  readonly onChange: (n: TopN) => void;
}

/** A text that is no number turns the field red and keeps the last one that was. */
export function TopNControl({ value, onChange }: Props) {
  const id = useId();
  const [draft, setDraft] = useState<string | null>(null);
  const [last, setLast] = useState(value === "all" ? DEFAULT_TOP : value);
  const text = draft ?? String(last);
  const all = value === "all";
  return (
    <span className="top-n">
      <label htmlFor={id}>{chartsTexts.top}</label>
      <input
        id={id}
        className="chart-field top-n-field"
        inputMode="numeric"
        autoComplete="off"
        disabled={all}
        aria-invalid={parseTopN(text) === null}
        value={text}
        onChange={(event) => {
          setDraft(event.target.value);
          const n = parseTopN(event.target.value);
          if (typeof n !== "number") return;
          setLast(n);
          onChange(n);
        }}
        onBlur={() => setDraft(null)}
      />
      <label className="top-n-all">
        <input
          type="checkbox"
          checked={all}
          onChange={(event) => onChange(event.target.checked ? "all" : last)}
        />
        {chartsTexts.all}
      </label>
    </span>
  );
}
