/** The memory snapshot of the same process, and what its allocator did in the time of the trace. */

import type { AllocatorCalls } from "../../api/schema.gen";
import { useSnapshotPartner } from "../../api/snapshotLink";
import { momentIn } from "../../draw";
import { bytes, count, duration, fraction } from "../../format";
import { memoryTexts } from "../../i18n";
import { showInTrace } from "../../shell/findings";
import { selectTrace, useTrace } from "../../state";
import { ListTable } from "../../table";
import { Link, Panel } from "../../ui";

const text = memoryTexts.snapshot;
const LISTED = 12;
const STRETCH_NS = 1_000_000;

/** Nothing where the run has no snapshot that may be of the same process. */
export function SameProcessPanel() {
  const { run, trace } = useTrace();
  const found = useSnapshotPartner(run, trace);
  if (!found) return null;
  const { partner, answer } = found;
  const { link, calls } = answer;
  const name = { run: run?.name, worker: partner.worker, span: partner.span };
  return (
    <Panel title={text.title} help={text.help}>
      <p>
        {text.reasons[link.reason]}{" "}
        {link.offset_ns !== null &&
          text.clocks(
            duration(link.offset_ns),
            duration(link.spread_ns ?? 0),
            fraction(link.matched),
            count(link.records),
          )}{" "}
        <Link onClick={() => selectTrace(name)}>{text.open(partner.worker)}</Link>
      </p>
      {calls.time_ns.length > 0 && <Calls calls={calls} />}
    </Panel>
  );
}

function Calls({ calls }: { readonly calls: AllocatorCalls }) {
  const largest = calls.bytes
    .map((size, at) => ({ size, at }))
    .sort((a, b) => b.size - a.size)
    .slice(0, LISTED);
  return (
    <ListTable
      caption={text.calls(count(largest.length), count(calls.bytes.length))}
      heads={text.columns}
      rows={largest}
      columns={[
        { cell: ({ at }) => calls.call[at] },
        { cell: ({ size }) => bytes(size) },
        { cell: ({ at }) => <Moment time={calls.time_ns[at] ?? 0} /> },
      ]}
    />
  );
}

function Moment({ time }: { readonly time: number }) {
  if (time < 0) return text.outside;
  return (
    <Link onClick={() => showInTrace({ start_ns: time, duration_ns: STRETCH_NS }, null)}>
      {momentIn(time, { start: 0, end: time })}
    </Link>
  );
}
