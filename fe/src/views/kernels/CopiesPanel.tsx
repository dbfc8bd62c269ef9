import type { KernelsTable } from "../../api";
import { kernelsTexts as text } from "../../i18n";
import { SimpleTable } from "../../table";
import { Panel } from "../../ui";
import { copiesTable } from "./copies";

export function CopiesPanel({ meta }: { meta: KernelsTable["meta"] }) {
  const kinds = [
    { caption: text.memcpy, copies: meta.memcpy },
    { caption: text.memset, copies: meta.memset },
    { caption: text.waits, copies: meta.waits },
  ].filter(({ copies }) => copies.length > 0);
  if (kinds.length === 0) return null;
  return (
    <Panel title={text.copies} help={text.copiesHelp}>
      <div className="copies">
        {kinds.map(({ caption, copies }) => (
          <SimpleTable key={caption} caption={caption} table={copiesTable(copies)} />
        ))}
      </div>
    </Panel>
  );
}
