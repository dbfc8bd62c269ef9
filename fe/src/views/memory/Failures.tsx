/** Allocations that failed, and what the text of an exception says. */
import { useState } from "react";
import { useTraceQuery } from "../../api";
import type { Failure } from "../../api/schema.gen";
import { momentIn } from "../../draw";
import { bytes, unbroken } from "../../format";
import { memoryText, memoryTexts } from "../../i18n";
import { showInTrace } from "../../shell/findings";
import { useTrace } from "../../state";
import { Async, Facts, Link, Panel, TextField } from "../../ui";

const text = memoryTexts.failures;
const MOST_TEXT = 4000;
const FACTS = [
  "requested",
  "allocated",
  "unallocated",
  "device_free",
  "device_total",
  "of_process",
  "of_others",
  "limit",
  "private_pools",
] as const;

/** Nothing where no allocation failed. */
export function FailuresPanel() {
  const { sel } = useTrace();
  const { data } = useTraceQuery("memory/failures", sel);
  if (!data || data.failures.length === 0) return null;
  return (
    <Panel title={text.title} help={text.help}>
      {data.failures.map((failure, at) => (
        <Explained key={failure.row} failure={failure} said={data.sentences[at]} />
      ))}
    </Panel>
  );
}

/** For the text of an OutOfMemoryError. */
export function ErrorTextPanel() {
  const { sel } = useTrace();
  const [typed, setTyped] = useState("");
  const asked = typed.trim().slice(0, MOST_TEXT);
  const query = useTraceQuery("memory/error_text", asked ? sel : null, { text: asked });
  return (
    <Panel title={text.pasted} help={text.pastedHelp}>
      <TextField
        rows={3}
        aria-label={text.pasted}
        placeholder={text.placeholder}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {asked && (
        <Async query={query}>
          {({ failures: [failure], sentences: [said] }) =>
            failure && <Explained failure={failure} said={said} />
          }
        </Async>
      )}
    </Panel>
  );
}

function Explained({
  failure,
  said,
}: {
  readonly failure: Failure;
  readonly said: string | undefined;
}) {
  const { time_ns: time, row } = failure;
  return (
    <div className="memory-failure">
      <p>
        {unbroken(memoryText("failure", said, failure))}{" "}
        {time !== null && (
          <Link onClick={() => showInTrace({ start_ns: time, duration_ns: 1_000_000 }, row)}>
            {text.at(momentIn(time, { start: 0, end: time }))}
          </Link>
        )}
      </p>
      <Facts
        look="above"
        facts={FACTS.filter((key) => failure[key] !== null).map((key) => ({
          name: text.facts[key],
          value: bytes(failure[key]),
        }))}
      />
    </div>
  );
}
