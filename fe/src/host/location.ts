/** Reading and writing the deep-link state, wherever the host keeps it. */
import { inTensorBoard, stateWindow } from "./frame";
import { formatHash, formatHostHash, type Params, parseHash, parseHostHash } from "./hash";
import { read, write } from "./storage";

const FALLBACK_KEY = "torch-tb-profiler.state";

export function readParams(): Params {
  const target = stateWindow();
  if (target === null) return parseHash(read("sessionStorage", FALLBACK_KEY) ?? "", "");
  const hash = target.location.hash;
  return inTensorBoard() ? parseHostHash(hash) : parseHash(hash, "");
}

export function writeParams(params: Params, push: boolean): void {
  const target = stateWindow();
  if (target === null) {
    write("sessionStorage", FALLBACK_KEY, formatHash(params));
    return;
  }
  const url = urlFor(target, params);
  if (url === target.location.href) return;
  try {
    if (push) target.history.pushState(target.history.state, "", url);
    else target.history.replaceState(target.history.state, "", url);
  } catch {
    // Browsers limit how often history may be written; the next write brings it up to date.
  }
}

/** The address that shows the page with these parameters, for sharing. */
export function linkTo(params: Params): string {
  return urlFor(stateWindow() ?? window, params);
}

/** Calls back when the user moves through history or edits the address. */
export function onParamsChange(callback: () => void): () => void {
  const target = stateWindow();
  if (target === null) return () => {};
  target.addEventListener("hashchange", callback);
  target.addEventListener("popstate", callback);
  return () => {
    target.removeEventListener("hashchange", callback);
    target.removeEventListener("popstate", callback);
  };
}

function urlFor(target: Window, params: Params): string {
  const { href, hash } = target.location;
  const bare = href.split("#", 1)[0] ?? href;
  return bare + (inTensorBoard() ? formatHostHash(hash, params) : formatHash(params));
}

/** Loads our own page again, not the host's. */
export function reloadPage(): void {
  location.reload();
}
