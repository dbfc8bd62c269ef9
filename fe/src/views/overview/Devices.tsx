import type { Device, Fraction, Overview } from "../../api";
import { fraction } from "../../format";
import { definitionText, overviewTexts } from "../../i18n";
import { DeviceTable } from "../../table";
import { Link, Panel } from "../../ui";
import { OPEN } from "./doors";

const text = overviewTexts.devices;

interface Metric {
  /** Of its definition. */
  readonly key: string;
  readonly label: string;
  readonly value: (device: Device) => Fraction | null;
}

const METRICS: readonly Metric[] = [
  { key: "busy", label: text.busy, value: (of) => of.busy },
  { key: "computing", label: text.computing, value: (of) => of.computing },
  { key: "communicating", label: text.communicating, value: (of) => of.communicating },
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

export function Devices({ overview: { devices, definitions } }: { overview: Overview }) {
  const opens = (key: string, value: Fraction | null) =>
    // What is behind a door is of all devices together: it is the number where there is one.
    value && devices.length === 1 && key in OPEN ? OPEN[key as keyof typeof OPEN] : null;
  return (
    <Panel className="area-devices" title={text.title} help={text.help}>
      <DeviceTable
        label={text.title}
        className="devices-table"
        devices={devices}
        texts={{ id: "GPU", ...text }}
        more={METRICS.map((metric) => ({
          label: metric.label,
          help: definitionText(definitions, metric.key),
          cell: (device: Device) => {
            const value = metric.value(device);
            const open = opens(metric.key, value);
            const said = fraction(value);
            return open ? (
              <Link aria-label={`${metric.label}: ${said}`} onClick={open}>
                {said}
              </Link>
            ) : (
              said
            );
          },
        }))}
      />
    </Panel>
  );
}
