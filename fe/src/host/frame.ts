/** Where the page runs: stand-alone, as a tab of TensorBoard, or in TensorBoard inside an editor. */

/** TensorBoard loads every plugin into an iframe on this page. */
const PLUGIN_PAGE = /\/data\/plugin_entry\.html$/;

export function inTensorBoard(): boolean {
  return PLUGIN_PAGE.test(location.pathname);
}

/**
 * The window whose hash holds our state: TensorBoard's, or our own.
 * Null when TensorBoard's cannot be reached (an embedder that isolates frames).
 */
export function stateWindow(): Window | null {
  if (!inTensorBoard()) return window;
  try {
    // Reading the hash is what throws when the parent is foreign.
    void window.parent.location.hash;
    return window.parent;
  } catch {
    return null;
  }
}

/** Origins of the frames around us, the nearest first. Firefox does not tell. */
export function ancestorOrigins(): string[] {
  try {
    return Array.from(location.ancestorOrigins ?? []);
  } catch {
    return [];
  }
}

/**
 * An embedder around TensorBoard sandboxes it: downloads, new windows and modal dialogs fail there
 * without a word, so the UI offers copying instead.
 */
export function isEmbedded(): boolean {
  const origins = ancestorOrigins();
  return origins.length > (inTensorBoard() ? 1 : 0);
}
