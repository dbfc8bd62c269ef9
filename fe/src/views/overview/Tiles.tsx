import { type Fraction, type Overview, useFlops } from "../../api";
import { count, duration, fraction } from "../../format";
import { categoryName, definitionText, overviewTexts } from "../../i18n";
import { UtilizationTiles } from "../../shell/utilization";
import { goToView, useTrace } from "../../state";
import { Tile } from "../../ui";
import { meanSmEfficiency, shareOf, stepStats } from "./numbers";

const text = overviewTexts.tiles;

interface Props {
  readonly overview: Overview;
  /** Lists the stretches of a part of the waterfall. */
  readonly onCause: (cause: string) => void;
  /** Tells what a category is made of. */
  readonly onCategory: (category: string) => void;
}

export function Tiles(props: Props) {
  const { overview, onCategory } = props;
  const steps = stepStats(overview);
  const { device, meta, steps: table, definitions } = overview;
  return (
    <dl className="tiles beside">
      <Tile
        label={text.step}
        help={definitionText(definitions, "step")}
        value={duration(steps.mean)}
        {...(steps.count > 1
          ? {
              facts: [
                [text.p50, duration(steps.p50)],
                [text.p95, duration(steps.p95)],
                [text.max, duration(steps.max)],
              ] as const,
            }
          : {})}
        remark={steps.count === 1 ? text.oneStep : text.steps(count(steps.count))}
        onOpen={() => goToView("steps", null, { filter: "" })}
      />
      {meta.device_type === "GPU" ? <OfDevices {...props} /> : <OfHost {...props} />}
      {table.categories.includes("communication") && !device.communicating && (
        <Tile
          label={categoryName("communication")}
          help={definitionText(definitions, "communication")}
          value={fraction(shareOf(overview, "communication"))}
          remark={text.ofStep}
          onOpen={() => onCategory("communication")}
        />
      )}
    </dl>
  );
}

function OfDevices({ overview, onCause, onCategory }: Props) {
  const { device, devices, definitions } = overview;
  const help = (key: string) => definitionText(definitions, key);
  const remark =
    devices.length > 1 ? text.devices(devices.length) : text.device(devices[0]?.id ?? 0);
  return (
    <>
      <DeviceTile
        label={text.busy}
        help={help("busy")}
        value={device.busy}
        remark={remark}
        onOpen={() => onCause("idle")}
      />
      <DeviceTile
        label={text.computing}
        help={help("computing")}
        value={device.computing}
        remark={remark}
        onOpen={() => onCategory("kernel")}
      />
      {!!device.communicating && (
        <DeviceTile
          label={text.exposed}
          help={help("exposed_communication")}
          value={device.exposed_communication}
          remark={remark}
          onOpen={() => onCause("exposed_communication")}
        />
      )}
      <DeviceTile
        label={text.sm}
        help={help("sm_efficiency")}
        value={meanSmEfficiency(devices)}
        remark={text.estimated}
        onOpen={() => goToView("kernels", null, { filter: "", sort: "mean_blocks_per_sm" })}
      />
      <DeviceTile
        label={text.occupancy}
        help={help("achieved_occupancy")}
        value={device.occupancy.mean}
        remark={text.knownOf(fraction(device.occupancy.known_share))}
        missing={device.occupancy.known_share === 0 ? text.notKnown : text.notRecorded}
        onOpen={() => goToView("kernels", null, { filter: "", sort: "mean_achieved_occupancy" })}
      />
      <DeviceTile
        label={text.tensor}
        help={help("tensor_cores_yes")}
        value={device.tensor_cores.yes}
        remark={text.unknownOf(fraction(device.tensor_cores.unknown))}
        missing={device.tensor_cores.unknown === null ? text.notRecorded : text.notInNames}
        onOpen={() => goToView("kernels", null, { filter: "", sort: "tensor_cores_used" })}
      />
      <OfPeak />
    </>
  );
}

function OfHost({ overview, onCategory }: Props) {
  const { definitions } = overview;
  const share = (category: "cpu_exec" | "dataloader") => fraction(shareOf(overview, category));
  return (
    <>
      <Tile
        label={text.cpuShare}
        help={definitionText(definitions, "cpu_exec")}
        value={share("cpu_exec")}
        remark={text.ofStep}
        onOpen={() => onCategory("cpu_exec")}
      />
      <Tile
        label={text.dataShare}
        help={definitionText(definitions, "dataloader")}
        value={share("dataloader")}
        remark={text.ofStep}
        onOpen={() => onCategory("dataloader")}
      />
    </>
  );
}

interface DeviceTileProps {
  readonly label: string;
  readonly help: string;
  readonly value: Fraction | null;
  /** What the number is; where there is none, that is said instead. */
  readonly remark: string;
  readonly missing?: string;
  /** Where there is a number. */
  readonly onOpen: () => void;
}

/** Not waited for: the other numbers are here already. */
function OfPeak() {
  const { data } = useFlops(useTrace().sel);
  return data ? <UtilizationTiles flops={data} onOpen={() => goToView("roofline")} /> : null;
}

function DeviceTile(props: DeviceTileProps) {
  const { value, remark, missing = text.notRecorded, onOpen, ...tile } = props;
  return (
    <Tile
      {...tile}
      value={fraction(value)}
      remark={value === null ? missing : remark}
      onOpen={value === null ? undefined : onOpen}
    />
  );
}
