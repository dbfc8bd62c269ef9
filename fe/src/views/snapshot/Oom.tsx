/** Why an allocation failed: what was free, why it could not be used, and who holds it. */
import type { Oom } from "../../api/schema.gen";
import { bytes, count, frameLabel } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { ListTable } from "../../table";
import { Facts, Panel } from "../../ui";

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
      <Facts
        look="above"
        facts={FACTS.map(([key, label]) => ({
          name: text.oomFacts[label],
          value: bytes(oom[key]),
        }))}
      />
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
