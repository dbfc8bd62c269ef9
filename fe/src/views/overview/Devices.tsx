import type { Definitions, Device } from "../../api";
import { bytes, fraction } from "../../format";
import { definitionText, overviewTexts } from "../../i18n";
import { Panel } from "../../ui";

const text = overviewTexts.devices;

export function Devices({
  devices,
  definitions,
}: {
  devices: readonly Device[];
  definitions: Definitions;
}) {
  return (
    <Panel className="area-devices" title={text.title} help={text.help}>
      <div className="scroll-x">
        <table className="plain num devices-table">
          <thead>
            <tr>
              <th scope="col">GPU</th>
              <th scope="col">{text.name}</th>
              <th scope="col">{text.memory}</th>
              <th scope="col">{text.capability}</th>
              <th scope="col" className="metric" title={definitionText(definitions, "utilization")}>
                {text.utilization}
              </th>
              <th
                scope="col"
                className="metric"
                title={definitionText(definitions, "sm_efficiency")}
              >
                {text.sm}
              </th>
              <th
                scope="col"
                className="metric"
                title={definitionText(definitions, "achieved_occupancy")}
              >
                {text.occupancy}
              </th>
              <th
                scope="col"
                className="metric"
                title={definitionText(definitions, "tensor_core_share")}
              >
                {text.tensor}
              </th>
            </tr>
          </thead>
          <tbody>
            {devices.map((device) => (
              <tr key={device.id}>
                <th scope="row">{device.id}</th>
                <td>{device.name ?? text.unknown}</td>
                <td className="devices-memory">{bytes(device.memory_bytes)}</td>
                <td>{device.compute_capability ?? "–"}</td>
                <td>{fraction(device.utilization)}</td>
                <td>{fraction(device.sm_efficiency)}</td>
                <td>{fraction(device.achieved_occupancy)}</td>
                <td>{fraction(device.tensor_core_share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
