/** Handing a trace to ui.perfetto.dev in a window of its own: https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui */

const ORIGIN = "https://ui.perfetto.dev";
/** It answers as soon as it has started. */
const PING_MS = 200;
const PATIENCE_MS = 60_000;

export const PERFETTO_URL = ORIGIN;

/**
 * Must be called by a click, which is what allows a window. False when none may be opened here. The trace is fetched
 * from our own server and handed to that window; nothing is sent by this page itself.
 */
export function openInPerfetto(title: string, load: () => Promise<ArrayBuffer>): boolean {
  const opened = window.open(ORIGIN);
  if (!opened) return false;
  const content = load();
  // Why it failed is said where `load` is awaited.
  content.catch(() => undefined);
  const deadline = Date.now() + PATIENCE_MS;
  const stop = () => {
    clearInterval(timer);
    window.removeEventListener("message", onMessage);
  };
  const onMessage = (event: MessageEvent) => {
    if (event.source !== opened || event.origin !== ORIGIN || event.data !== "PONG") return;
    stop();
    void content.then((buffer) =>
      opened.postMessage({ perfetto: { buffer, title, fileName: title } }, ORIGIN),
    );
  };
  window.addEventListener("message", onMessage);
  const timer = setInterval(() => {
    if (opened.closed || Date.now() > deadline) stop();
    else opened.postMessage("PING", ORIGIN);
  }, PING_MS);
  return true;
}
