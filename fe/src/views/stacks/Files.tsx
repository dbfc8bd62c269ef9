import { useCallback, useId } from "react";
import { stacksTexts as text } from "../../i18n";
import { useDraft } from "../../shell";
import { useAddress } from "../../state";
import { Help } from "../../ui";
import { params } from "./params";

/** The server is asked when the typing rests. */
const REST_MS = 350;

export function Files() {
  const id = useId();
  const [files, setFiles] = useAddress(params.files);
  const write = useCallback((value: string) => setFiles(value.trim()), [setFiles]);
  const [draft, setDraft] = useDraft(files, write, REST_MS);
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
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
      />
      <Help title={text.files}>{text.filesHelp}</Help>
    </div>
  );
}
