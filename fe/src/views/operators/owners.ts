import type { OperatorsTable } from "../../api";
import { ownersTexts as text } from "../../i18n";
import type { Table } from "../../table";

type Unattributed = OperatorsTable["meta"]["unattributed"][number];

/** Rows that are shown; the others are summed up. */
const MOST = 50;

/** Device work that no operator launched, by owner, the longest first; and what is left out. */
export function ownersTable(owners: readonly Unattributed[]): {
  table: Table;
  left: number;
  leftNs: number;
} {
  const shown = owners.slice(0, MOST);
  const rest = owners.slice(MOST);
  const table: Table = {
    columns: [
      { key: "owner", label: text.owner, type: "string", unit: null, help: text.ownerHelp },
      { key: "known", label: text.known, type: "string", unit: null, help: text.knownHelp },
      { key: "calls", label: text.calls, type: "number", unit: "count", help: text.callsHelp },
      { key: "device_ns", label: text.total, type: "number", unit: "ns", help: text.totalHelp },
    ],
    rows: {
      owner: shown.map(({ how, name, reason, launcher, owner }) =>
        text.words({
          how,
          name,
          reason,
          launcher: launcher.replace(/^\((.*)\)$/, "$1"),
          english: owner,
        }),
      ),
      known: shown.map(({ how }) => text.how[how] ?? how),
      calls: shown.map(({ calls }) => calls),
      device_ns: shown.map(({ device_ns }) => device_ns),
    },
  };
  return { table, left: rest.length, leftNs: rest.reduce((sum, row) => sum + row.device_ns, 0) };
}
