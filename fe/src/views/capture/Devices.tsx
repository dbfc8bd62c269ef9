import type { RecordedDevice } from "../../api";
import { bytes } from "../../format";
import { captureTexts } from "../../i18n";
import { Panel } from "../../ui";

const text = captureTexts.devices;

export function Devices({ devices }: { devices: readonly RecordedDevice[] }) {
  return (
    <Panel className="area-devices" title={text.title} help={text.help}>
      {devices.length === 0 ? (
        <p className="muted">{text.none}</p>
      ) : (
        <div className="scroll-x">
          <table className="capture-table">
            <thead>
              <tr>
                <th scope="col">{text.id}</th>
                <th scope="col">{text.name}</th>
                <th scope="col" className="number">
                  {text.memory}
                </th>
                <th scope="col">{text.capability}</th>
                <th scope="col">{text.used}</th>
              </tr>
            </thead>
            <tbody>
              {devices.map((device) => (
                <tr key={device.id}>
                  <th scope="row">{device.id}</th>
                  <td>{device.name ?? text.unknown}</td>
                  <td className="number num">{bytes(device.memory_bytes)}</td>
                  <td>{device.compute_capability ?? "–"}</td>
                  <td>{device.used ? text.yes : text.no}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
