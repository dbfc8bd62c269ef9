/** How long the steps would take after some changes. */
import { useCallback, useMemo } from "react";
import { type CriticalPath, useTraceQuery } from "../../api";
import { criticalpath } from "../../i18n/en/criticalpath";
import { useDraft } from "../../shell";
import { useAddress, useTrace } from "../../state";
import { Async, Button, Panel } from "../../ui";
import { Controls } from "./Controls";
import { CHANGES, type Change } from "./changes";
import { params } from "./params";
import { Result } from "./Result";

const text = criticalpath.whatIf;
/** A slider must not ask the server at every pixel. */
const SETTLE_MS = 200;

export function WhatIf({ path }: { path: CriticalPath }) {
  const [changes, setChanges] = useDraft(...useWritten(), SETTLE_MS);
  return (
    <Panel
      title={text.title}
      help={text.help}
      className="what-if"
      actions={
        <Button disabled={changes.length === 0} onClick={() => setChanges([])}>
          {text.reset}
        </Button>
      }
    >
      <div className="what-if-halves">
        <Controls path={path} changes={changes} onChange={setChanges} />
        <Answer />
      </div>
    </Panel>
  );
}

/** What the address has; what of it means nothing is left out. */
function useWritten(): [readonly Change[], (changes: readonly Change[]) => void] {
  const [text, setText] = useAddress(params.changes);
  const changes = useMemo(() => CHANGES.parse(text), [text]);
  const write = useCallback((next: readonly Change[]) => setText(CHANGES.format(next)), [setText]);
  return [changes, write];
}

function Answer() {
  const [changes] = useWritten();
  return (
    <section className="what-if-result" aria-live="polite">
      {changes.length === 0 ? (
        <p className="muted">{text.start}</p>
      ) : (
        <Replayed changes={changes} />
      )}
    </section>
  );
}

function Replayed({ changes }: { changes: readonly Change[] }) {
  const query = useTraceQuery("what_if", useTrace().sel, { changes: CHANGES.format(changes) });
  return <Async query={query}>{(answer) => <Result answer={answer} />}</Async>;
}
