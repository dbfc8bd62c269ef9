import type { SegmentsAnswer } from "../../api/schema.gen";
import { bytes, count } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { ListTable } from "../../table";

/** The pools of the allocator, and what is free in them. */
export function Pools({ answer: { pools } }: { readonly answer: SegmentsAnswer }) {
  return (
    <ListTable
      caption={text.pools}
      heads={text.poolColumns}
      rows={pools}
      columns={[
        { cell: ({ pool }) => (pool === "default" ? text.defaultPool : pool) },
        { kind: "text", cell: ({ stream }) => stream },
        { kind: "text", cell: ({ is_small: isSmall }) => (isSmall ? text.small : text.large) },
        { cell: ({ segments }) => count(segments) },
        { cell: ({ reserved }) => bytes(reserved) },
        { cell: ({ used }) => bytes(used) },
        { cell: ({ free }) => bytes(free) },
        { cell: ({ largest }) => bytes(largest) },
      ]}
    />
  );
}
