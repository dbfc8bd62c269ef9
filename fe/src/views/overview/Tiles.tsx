import { type Fraction, type Overview, useFlops } from "../../api";
import { count, duration, fraction } from "../../format";
import { categoryName, definitionText, overviewTexts } from "../../i18n";
import { UtilizationTiles } from "../../shell/utilization";
import { goToView, useTrace } from "../../state";
import { Tile } from "../../ui";
import { OPEN, openCategory } from "./doors";
import { meanSmEfficiency, shareOf, stepStats } from "./numbers";

const text = overviewTexts.tiles;

export function Tiles({ overview }: { overview: Overview }) {
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
      {meta.device_type === "GPU" ? (
        <OfDevices overview={overview} />
      ) : (
        <OfHost overview={overview} />
      )}
      {table.categories.includes("communication") && !device.communicating && (
        <Tile
          label={categoryName("communication")}
          help={definitionText(definitions, "communication")}
          value={fraction(shareOf(overview, "communication"))}
          remark={text.ofStep}
          onOpen={() => openCategory("communication")}
        />
      )}
    </dl>
  );
}

function OfDevices({ overview }: { overview: Overview }) {
  const { device, devices, definitions } = overview;
  const { occupancy, tensor_cores: tensor } = device;
  const remark =
    devices.length > 1 ? text.devices(devices.length) : text.device(devices[0]?.id ?? 0);
  const tile = (
    key: keyof typeof OPEN,
    label: string,
    value: Fraction | null,
    remark: string,
    missing: string = text.notRecorded,
  ) => (
    <Tile
      label={label}
      help={definitionText(definitions, key)}
      value={fraction(value)}
      remark={value === null ? missing : remark}
      onOpen={value === null ? undefined : OPEN[key]}
    />
  );
  return (
    <>
      {tile("busy", text.busy, device.busy, remark)}
      {tile("computing", text.computing, device.computing, remark)}
      {!!device.communicating &&
        tile("exposed_communication", text.exposed, device.exposed_communication, remark)}
      {tile("sm_efficiency", text.sm, meanSmEfficiency(devices), text.estimated)}
      {tile(
        "achieved_occupancy",
        text.occupancy,
        occupancy.mean,
        text.knownOf(fraction(occupancy.known_share)),
        occupancy.known_share === 0 ? text.notKnown : text.notRecorded,
      )}
      {tile(
        "tensor_cores_yes",
        text.tensor,
        tensor.yes,
        text.unknownOf(fraction(tensor.unknown)),
        tensor.unknown === null ? text.notRecorded : text.notInNames,
      )}
      <OfPeak />
    </>
  );
}

function OfHost({ overview }: { overview: Overview }) {
  const { definitions } = overview;
  const share = (category: "cpu_exec" | "dataloader") => fraction(shareOf(overview, category));
  return (
    <>
      <Tile
        label={text.cpuShare}
        help={definitionText(definitions, "cpu_exec")}
        value={share("cpu_exec")}
        remark={text.ofStep}
        onOpen={() => openCategory("cpu_exec")}
      />
      <Tile
        label={text.dataShare}
        help={definitionText(definitions, "dataloader")}
        value={share("dataloader")}
        remark={text.ofStep}
        onOpen={() => openCategory("dataloader")}
      />
    </>
  );
}

/** Not waited for: the other numbers are here already. */
function OfPeak() {
  const { data } = useFlops(useTrace().sel);
  return data ? <UtilizationTiles flops={data} onOpen={() => goToView("roofline")} /> : null;
}
