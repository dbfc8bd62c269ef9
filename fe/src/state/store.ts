/** The deep-link parameters as a store: what is on screen is what is in the address. */
import { original, visible } from "../format";
import { linkTo, onParamsChange, type Params, readParams, writeParams } from "../host";
import { applyChanges, type Change, sameParams } from "./address";

/** The address has names as files have them, the page as they are shown. */
const shown = (params: Params) => mapped(params, visible);
const written = (params: Params) => mapped(params, original);

function mapped(params: Params, change: (text: string) => string): Params {
  return Object.fromEntries(Object.entries(params).map(([key, text]) => [key, change(text)]));
}

/** The address that shows the page with these parameters, for sharing. */
export function addressOf(params: Params): string {
  return linkTo(written(params));
}

/** Typing in a filter should not write the address at every key. */
const SETTLE_MS = 250;

export interface Host {
  read(): Params;
  write(params: Params, push: boolean): void;
  onChange(callback: () => void): () => void;
}

interface ParamStore {
  get(): Params;
  /** All at once: one redraw, and one entry of the history if any of them is a step. */
  set(...changes: readonly Change[]): void;
  /** Writes what is still waiting. */
  flush(): void;
  subscribe(listener: () => void): () => void;
}

export function createParamStore(host: Host): ParamStore {
  let params = shown(host.read());
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listeners = new Set<() => void>();

  const changed = (next: Params) => {
    params = next;
    for (const listener of listeners) listener();
  };

  const flush = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    host.write(written(params), false);
  };

  host.onChange(() => {
    const next = shown(host.read());
    if (sameParams(next, params)) return;
    // The user went somewhere else: what was about to be written belongs to the place they left.
    clearTimeout(timer);
    timer = undefined;
    changed(next);
  });

  return {
    get: () => params,
    set(...changes) {
      const next = applyChanges(
        params,
        changes.map((each) => ({ ...each, text: visible(original(each.text)) })),
      );
      if (sameParams(next, params)) return;
      if (changes.some(({ isStep }) => isStep)) {
        flush();
        changed(next);
        host.write(written(next), true);
      } else {
        changed(next);
        clearTimeout(timer);
        timer = setTimeout(flush, SETTLE_MS);
      }
    },
    flush,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

let shared: ParamStore | undefined;

/** The store of the page, created on first use. */
export function paramStore(): ParamStore {
  shared ??= createParamStore({ read: readParams, write: writeParams, onChange: onParamsChange });
  return shared;
}
