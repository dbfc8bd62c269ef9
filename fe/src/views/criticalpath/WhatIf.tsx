/** How long the steps would take after some changes. */
import { useCallback, useMemo } from "react";
import { type CriticalPath, type ResourceOnPath, useTraceQuery } from "../../api";
import { Tornado } from "../../charts";
import { criticalpath } from "../../i18n/en/criticalpath";
import { useDraft } from "../../shell";
import { useAddress, useTrace } from "../../state";
import { Async, Button, Panel } from "../../ui";
import { Controls } from "./Controls";
import { CHANGES, type Change, withoutResource } from "./changes";
import { params } from "./params";
import { bySaving, resourceColor, resourceName } from "./parts";
import { Result } from "./Result";

const text = criticalpath.whatIf;
/** A slider must not ask the server at every pixel. */
const SETTLE_MS = 200;

export function WhatIf({ path }: { path: CriticalPath }) {
  const [written, write] = useWritten();
  const [changes, setChanges] = useDraft(written, write, SETTLE_MS);
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
        <section className="what-if-result" aria-live="polite">
          {written.length === 0 ? (
            <Scenarios path={path} onChange={setChanges} />
          ) : (
            <Replayed changes={written} />
          )}
        </section>
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

interface ScenariosProps {
  readonly path: CriticalPath;
  readonly onChange: (changes: readonly Change[]) => void;
}

/** What can limit a step, by what would be saved without it; a click makes it the change that is looked at. */
function Scenarios({ path, onChange }: ScenariosProps) {
  const { resources, steps, total_ns } = path;
  const n = Math.max(1, steps.names.length);
  const ranked = useMemo(() => bySaving(resources), [resources]);
  const items = useMemo(() => ranked.map((each) => scenarioOf(each, n)), [ranked, n]);
  if (items.length === 0) return <p className="muted">{text.start}</p>;
  return (
    <>
      <p>{text.scenarios}</p>
      <Tornado
        title={text.scenariosTitle}
        unit="ns"
        items={items}
        total={total_ns / n}
        head={[text.scenario, text.without, text.faster, text.interval]}
        onPick={(at) => onChange(withoutResource(ranked[at]?.resource ?? "unknown"))}
      />
      <p className="muted">{text.start}</p>
    </>
  );
}

function scenarioOf({ resource, if_free: free, if_faster: faster }: ResourceOnPath, steps: number) {
  const mean = (ns: number | null | undefined) => (ns == null ? null : ns / steps);
  return {
    label: resourceName(resource),
    color: resourceColor(resource),
    most: mean(free?.saved_ns) ?? 0,
    part: mean(faster?.saved_ns),
    low: mean(free?.low_ns),
    high: mean(free?.high_ns),
  };
}

function Replayed({ changes }: { changes: readonly Change[] }) {
  const query = useTraceQuery("what_if", useTrace().sel, { changes: CHANGES.format(changes) });
  return <Async query={query}>{(answer) => <Result answer={answer} />}</Async>;
}
