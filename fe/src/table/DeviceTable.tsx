import type { DeviceProperties } from "../api";
import { bytes } from "../format";
import { type ListColumn, ListTable } from "./ListTable";

interface Props<D> {
  readonly label: string;
  readonly className?: string;
  readonly devices: readonly D[];
  readonly texts: Readonly<Record<"id" | "name" | "memory" | "capability" | "unknown", string>>;
  /** Further columns. */
  readonly more: readonly ListColumn<D>[];
}

/** Devices and their properties, a row each. */
export function DeviceTable<D extends DeviceProperties>({
  devices,
  texts,
  more,
  ...table
}: Props<D>) {
  const known: ListColumn<D>[] = [
    { label: texts.id, cell: ({ id }) => id },
    {
      label: texts.name,
      kind: "text",
      className: "device-name",
      cell: ({ name }) => name ?? texts.unknown,
    },
    { label: texts.memory, cell: ({ memory_bytes: size }) => bytes(size) },
    { label: texts.capability, cell: (device) => device.compute_capability ?? "–" },
  ];
  return <ListTable {...table} wide rows={devices} columns={[...known, ...more]} />;
}
