import { useState } from "react";
import { canOpenInEditor, copyText, openInEditor } from "../host";
import { stacksTexts } from "../i18n";
import { Link } from "./Button";

interface Props {
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
}

/** A place in a source file: opened in the editor around us, elsewhere its path is copied. */
export function SourceLink({ file, line }: Props) {
  const [copied, setCopied] = useState(false);
  const place = `${file}:${line}`;
  const inEditor = canOpenInEditor();
  return (
    <span className="source-link">
      <Link
        title={inEditor ? stacksTexts.open(place) : stacksTexts.copy(place)}
        onBlur={() => setCopied(false)}
        onClick={() => {
          if (inEditor) openInEditor(file, line);
          else void copyText(place).then(setCopied);
        }}
      >
        {place}
      </Link>
      <span role="status" className="muted">
        {copied ? ` ${stacksTexts.copied}` : ""}
      </span>
    </span>
  );
}
