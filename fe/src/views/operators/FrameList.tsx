import { useState } from "react";
import { canOpenInEditor, copyText, openInEditor } from "../../host";
import { t } from "../../i18n";
import { type Frame, parseStack, placeOf } from "./frames";

const text = t.operators;

/** The innermost frame first, as in a traceback read upwards. */
export function Frames({ stack }: { stack: string }) {
  return (
    <ol className="frames">
      {parseStack(stack).map((frame, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a recursive function appears more than once
        <li key={index}>
          <FrameLink frame={frame} />
        </li>
      ))}
    </ol>
  );
}

function FrameLink({ frame }: { frame: Frame }) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const { file, line } = frame;
  if (file === null || line === null) return <span className="frame">{frame.text}</span>;
  const inEditor = canOpenInEditor();
  return (
    <>
      <button
        type="button"
        className="link frame"
        title={inEditor ? text.openFrame(placeOf(frame)) : text.copyFrame(placeOf(frame))}
        onBlur={() => setCopied(null)}
        onClick={() => {
          if (inEditor) openInEditor(file, line);
          else void copyText(placeOf(frame)).then(setCopied);
        }}
      >
        {frame.text}
      </button>
      <span role="status" className="muted">
        {copied === null ? "" : ` ${copied ? text.frameCopied : t.copy.refused}`}
      </span>
    </>
  );
}
