/** What is looked at: a device, a moment, a window. */
import type { SnapshotAnswer, SnapshotDevice } from "../../api/schema.gen";
import { useAddress } from "../../state";
import { params } from "./params";

export interface Look {
  readonly device: SnapshotDevice;
  readonly devices: readonly SnapshotDevice[];
  readonly setDevice: (number: string | null) => void;
  /** As the server is asked. */
  readonly at: string;
  readonly setAt: (at: string) => void;
  readonly since: string | null;
  readonly setSince: (since: string | null) => void;
}

export function useLook(answer: SnapshotAnswer): Look | null {
  const [wanted, setDevice] = useAddress(params.device);
  const [at, setAt] = useAddress(params.at);
  const [since, setSince] = useAddress(params.since);
  const { devices } = answer;
  const device = devices.find((each) => String(each.device) === wanted) ?? devices[0];
  return device ? { device, devices, setDevice, at, setAt, since, setSince } : null;
}

/** What stands in every question. */
export function asked({ device }: Look) {
  return { device: device.device };
}
