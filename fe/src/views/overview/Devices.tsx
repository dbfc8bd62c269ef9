import type { Definitions, Device, Fraction } from "../../api";
import { fraction } from "../../format";
import { definitionText, overviewTexts } from "../../i18n";
import { goToView } from "../../state";
import { DeviceTable } from "../../table";
import { Link, Panel } from "../../ui";

const text = overviewTexts.devices;

interface Metric {
  /** Of its definition. */
  readonly key: string;
  readonly label: string;
  readonly value: (device: Device) => Fraction | null;
  /** The part of the waterfall, the category, or the order of the kernels that say more of it. */
  readonly door?:
    | { readonly cause: string }
    | { readonly category: string }
    | { readonly sort: string };
}

const METRICS: readonly Metric[] = [
  { key: "busy", label: text.busy, value: ({ busy }) => busy, door: { cause: "idle" } },
  {
    key: "computing",
    label: text.computing,
    value: ({ computing }) => computing,
    door: { category: "kernel" },
  },
  {
    key: "communicating",
    label: text.communicating,
    value: ({ communicating }) => communicating,
    door: { category: "communication" },
  },
  {
    key: "exposed_communication",
    label: text.exposed,
    value: (of) => of.exposed_communication,
    door: { cause: "exposed_communication" },
  },
  {
    key: "sm_efficiency",
    label: text.sm,
    value: (of) => of.sm_efficiency,
    door: { sort: "mean_blocks_per_sm" },
  },
  {
    key: "achieved_occupancy",
    label: text.occupancy,
    value: (of) => of.achieved_occupancy,
    door: { sort: "mean_achieved_occupancy" },
  },
  { key: "occupancy_known_share", label: text.known, value: (of) => of.occupancy_known_share },
  {
    key: "tensor_cores_yes",
    label: text.tensor,
    value: (of) => of.tensor_cores.yes,
    door: { sort: "tensor_cores_used" },
  },
  {
    key: "tensor_cores_unknown",
    label: text.tensorUnknown,
    value: (of) => of.tensor_cores.unknown,
  },
];

interface Props {
  readonly devices: readonly Device[];
  readonly definitions: Definitions;
  /** Lists the stretches of a part of the waterfall. */
  readonly onCause: (cause: string) => void;
  /** Tells what a category is made of. */
  readonly onCategory: (category: string) => void;
}

export function Devices({ devices, definitions, onCause, onCategory }: Props) {
  const opens = ({ door }: Metric, value: Fraction | null) => {
    // What is behind a door is of all devices together: it is the number where there is one.
    if (!door || !value || devices.length > 1) return null;
    if ("cause" in door) return () => onCause(door.cause);
    if ("category" in door) return () => onCategory(door.category);
    return () => goToView("kernels", null, { filter: "", sort: door.sort });
  };
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
            const open = opens(metric, value);
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
