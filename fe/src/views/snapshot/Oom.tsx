/** Why an allocation failed: what was free, why it could not be used, and who holds it. */
import type { Oom } from "../../api/schema.gen";
import { bytes, count, frameLabel } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { ListTable } from "../../table";
import { Panel } from "../../ui";

const FACTS = [
  ["requested", "requested"],
  ["free", "free"],
  ["largest", "largest"],
  ["segment_needed", "segment"],
  ["device_free", "deviceFree"],
  ["other_streams", "otherStreams"],
  ["other_pools", "otherPools"],
  ["pending", "pending"],
  ["in_use", "inUse"],
  ["reserved", "reserved"],
] as const;

export function OomPanel({ oom }: { readonly oom: Oom }) {
  return (
    <Panel title={text.oom}>
      <dl className="snapshot-facts num">
        {FACTS.map(([key, label]) => (
          <div key={key}>
            <dt>{text.oomFacts[label]}</dt>
            <dd>{bytes(oom[key])}</dd>
          </div>
        ))}
      </dl>
      {oom.expandable_helps && <p>{text.expandable}</p>}
      {!oom.pool_known && <p className="muted">{text.noPool}</p>}
      {!oom.exact && <p className="muted">{text.inexact}</p>}
      {oom.holders.length > 0 && (
        <ListTable
          caption={text.holders}
          heads={text.holderColumns}
          rows={oom.holders}
          columns={[
            { cell: ({ line }) => frameLabel(line), title: ({ line }) => line },
            { cell: (holder) => bytes(holder.bytes) },
            { cell: ({ blocks }) => count(blocks) },
            { cell: ({ segments }) => count(segments) },
            { cell: ({ joins }) => bytes(joins) },
          ]}
        />
      )}
    </Panel>
  );
}
