/** TensorBoard's message channel to its plugins: `{type, id, payload, error, isReply}` as JSON text. */
import { inTensorBoard } from "./frame";

const BOOTSTRAP = "experimental.bootstrap";
const RELOADED = "experimental.DataReloaded";

interface HostMessage {
  type: string;
  id: number;
  isReply: boolean;
}

export function parseMessage(data: unknown): HostMessage | null {
  let value: unknown = data;
  if (typeof data === "string") {
    try {
      value = JSON.parse(data);
    } catch {
      return null;
    }
  }
  if (typeof value !== "object" || value === null) return null;
  const { type, id, isReply } = value as Record<string, unknown>;
  if (typeof type !== "string" || typeof id !== "number") return null;
  return { type, id, isReply: isReply === true };
}

/** The host waits for an answer to each of its requests, whatever it says. */
export function replyTo(message: HostMessage): string {
  return JSON.stringify({
    type: message.type,
    id: message.id,
    payload: null,
    error: null,
    isReply: true,
  });
}

/** Calls back when the user presses TensorBoard's reload button (or its timer does). */
export function onHostReload(callback: () => void): void {
  if (!inTensorBoard()) return;
  try {
    const channel = new MessageChannel();
    channel.port1.onmessage = (event) => {
      const message = parseMessage(event.data);
      if (message === null || message.isReply) return;
      channel.port1.postMessage(replyTo(message));
      if (message.type === RELOADED) callback();
    };
    window.parent.postMessage(BOOTSTRAP, location.origin, [channel.port2]);
  } catch {
    // Without the channel the page still polls.
  }
}
