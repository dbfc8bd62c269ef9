import type { Copies } from "../../api";
import { kernelsTexts } from "../../i18n";
import type { Table } from "../../table";

const text = kernelsTexts.columns;
const help = kernelsTexts.columnHelp;

/** Copies as a table, the longest first, with what they moved in the time they took. */
export function copiesTable(copies: readonly Copies[]): Table {
  const sorted = [...copies].sort((a, b) => b.total_ns - a.total_ns);
  return {
    columns: [
      { key: "name", label: text.name, type: "string", unit: null },
      { key: "calls", label: text.calls, type: "number", unit: "count", help: help.calls },
      { key: "total_ns", label: text.total, type: "number", unit: "ns", help: help.total },
      { key: "bytes", label: text.bytes, type: "number", unit: "bytes", help: help.bytes },
      { key: "bandwidth", label: text.bandwidth, type: "number", unit: null, help: help.bandwidth },
    ],
    rows: {
      name: sorted.map(({ name }) => name),
      calls: sorted.map(({ calls }) => calls),
      total_ns: sorted.map(({ total_ns }) => total_ns),
      bytes: sorted.map(({ bytes }) => bytes),
      // Bytes per nanosecond are decimal gigabytes per second.
      bandwidth: sorted.map(({ bytes, total_ns }) =>
        bytes !== null && total_ns > 0 ? bytes / total_ns : null,
      ),
    },
  };
}
