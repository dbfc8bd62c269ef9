import type { ReactNode } from "react";
import type { DeviceProperties } from "../api";
import { bytes } from "../format";
import { Wide } from "./Wide";

interface Column<D> {
  readonly key: string;
  readonly label: string;
  readonly title?: string | undefined;
  readonly className?: string;
  readonly cell: (device: D) => ReactNode;
}

interface Props<D> {
  readonly className: string;
  readonly devices: readonly D[];
  readonly texts: Readonly<Record<"id" | "name" | "memory" | "capability" | "unknown", string>>;
  readonly memoryClass: string;
  /** Further columns; `className` is that of the header cell. */
  readonly more: readonly Column<D>[];
}

/** Devices and their properties, a row each. */
export function DeviceTable<D extends DeviceProperties>(props: Props<D>) {
  const { className, devices, texts, memoryClass, more } = props;
  return (
    <Wide>
      <table className={className}>
        <thead>
          <tr>
            <th scope="col">{texts.id}</th>
            <th scope="col">{texts.name}</th>
            <th scope="col" className={memoryClass}>
              {texts.memory}
            </th>
            <th scope="col">{texts.capability}</th>
            {more.map((column) => (
              <th key={column.key} scope="col" className={column.className} title={column.title}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {devices.map((device) => (
            <tr key={device.id}>
              <th scope="row">{device.id}</th>
              <td>{device.name ?? texts.unknown}</td>
              <td className={memoryClass}>{bytes(device.memory_bytes)}</td>
              <td>{device.compute_capability ?? "–"}</td>
              {more.map(({ key, cell }) => (
                <td key={key}>{cell(device)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
