import type { RecordedDevice } from "../../api";
import { captureTexts } from "../../i18n";
import { goToView } from "../../state";
import { DeviceTable } from "../../table";
import { Link, Panel } from "../../ui";

const text = captureTexts.devices;

export function Devices({ devices }: { devices: readonly RecordedDevice[] }) {
  return (
    <Panel className="area-devices" title={text.title} help={text.help}>
      {devices.length === 0 ? (
        <p className="muted">{text.none}</p>
      ) : (
        <DeviceTable
          label={text.title}
          devices={devices}
          texts={text}
          more={[
            {
              label: text.used,
              kind: "text",
              cell: ({ id, used }) => (used ? <ShowTracks id={id} /> : text.no),
            },
          ]}
        />
      )}
    </Panel>
  );
}

/** Its tracks on the timeline. */
function ShowTracks({ id }: { readonly id: number }) {
  return (
    <Link onClick={() => goToView("trace", null, { tracks: `GPU ${id}`, window: null })}>
      {text.yes}
    </Link>
  );
}
