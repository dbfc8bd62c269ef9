/**
 * Deep-link parameters inside a location hash. Pure.
 *
 * Stand-alone:    `#v=operators&q=conv`
 * In TensorBoard: `#pytorch_profiler&p.pytorch_profiler.v=operators&…`, where the first part is the
 * active tab and the other parts may belong to other plugins; those are left as they are.
 */
export type Params = Readonly<Record<string, string>>;

const PLUGIN = "pytorch_profiler";
const PREFIX = `p.${PLUGIN}.`;

export function parseHash(hash: string, prefix: "" | typeof PREFIX): Params {
  const params: Record<string, string> = {};
  for (const part of parts(hash)) {
    const at = part.indexOf("=");
    if (at <= 0) continue;
    const key = decode(part.slice(0, at));
    if (key.startsWith(prefix)) params[key.slice(prefix.length)] = decode(part.slice(at + 1));
  }
  return params;
}

export function formatHash(params: Params): string {
  const text = own(params, "").join("&");
  return text ? `#${text}` : "";
}

export function parseHostHash(hash: string): Params {
  return parseHash(hash, PREFIX);
}

/** The host's hash with our parameters replaced by `params`. */
export function formatHostHash(hash: string, params: Params): string {
  const foreign = parts(hash).filter((part) => !decode(part).startsWith(PREFIX));
  const head = foreign[0];
  // The first part without "=" is the active tab. It stays, even if it is not ours: the user may
  // have moved on while a write was pending.
  const tab = head !== undefined && !head.includes("=") ? foreign.shift() : PLUGIN;
  return `#${[tab, ...foreign, ...own(params, PREFIX)].join("&")}`;
}

function own(params: Params, prefix: string): string[] {
  return Object.entries(params).map(([key, value]) => `${encode(prefix + key)}=${encode(value)}`);
}

function parts(hash: string): string[] {
  return hash.replace(/^#/, "").split("&").filter(Boolean);
}

/** Percent-encoding that leaves names readable: `op:aten::mm` stays as it is. */
function encode(text: string): string {
  // Half a character has no encoding.
  const whole = text.replace(/\p{Cs}/gu, "\ufffd");
  return encodeURIComponent(whole).replace(/%(3A|2C|2F)/g, (code) => decodeURIComponent(code));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
