/** Files of the server's words, which are TOML, as modules. */
import { parse } from "smol-toml";
import type { Plugin } from "vite";

export function tomlPlugin(): Plugin {
  return {
    name: "toml",
    transform: (code, id) =>
      id.endsWith(".toml")
        ? { code: `export default ${JSON.stringify(parse(code))};`, moduleType: "js", map: null }
        : null,
  };
}
