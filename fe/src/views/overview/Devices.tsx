import type { Definitions, Device, Fraction } from "../../api";
import { fraction } from "../../format";
import { definitionText, overviewTexts } from "../../i18n";
import { DeviceTable, Panel } from "../../ui";

const text = overviewTexts.devices;

interface Metric {
  /** Of its definition. */
  readonly key: string;
  readonly label: string;
  readonly value: (device: Device) => Fraction | null;
}

const METRICS: readonly Metric[] = [
  { key: "busy", label: text.busy, value: ({ busy }) => busy },
  { key: "computing", label: text.computing, value: ({ computing }) => computing },
  { key: "communicating", label: text.communicating, value: ({ communicating }) => communicating },
  { key: "exposed_communication", label: text.exposed, value: (of) => of.exposed_communication },
  { key: "sm_efficiency", label: text.sm, value: (of) => of.sm_efficiency },
  { key: "achieved_occupancy", label: text.occupancy, value: (of) => of.achieved_occupancy },
  { key: "occupancy_known_share", label: text.known, value: (of) => of.occupancy_known_share },
  { key: "tensor_cores_yes", label: text.tensor, value: (of) => of.tensor_cores.yes },
  {
    key: "tensor_cores_unknown",
    label: text.tensorUnknown,
    value: (of) => of.tensor_cores.unknown,
  },
];

export function Devices({
  devices,
  definitions,
}: {
  devices: readonly Device[];
  definitions: Definitions;
}) {
  return (
    <Panel className="area-devices" title={text.title} help={text.help}>
      <DeviceTable
        className="plain num devices-table"
        devices={devices}
        texts={{ id: "GPU", ...text }}
        memoryClass="devices-memory"
        more={METRICS.map(({ key, label, value }) => ({
          key,
          label,
          title: definitionText(definitions, key),
          className: "metric",
          cell: (device: Device) => fraction(value(device)),
        }))}
      />
    </Panel>
  );
}
