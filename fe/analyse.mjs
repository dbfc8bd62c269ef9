import { build } from "vite"; import { gzipSync } from "node:zlib";
const res = await build({ configFile: "vite.config.ts", logLevel: "error", build: { outDir: process.argv[2] ?? "/tmp/an", emptyOutDir: true },
 plugins: [{ name: "an", generateBundle(_, b) {
  for (const c of Object.values(b)) if (c.type === "chunk" && /react|table|i18n|app|src|ui|state|shell/.test(c.fileName) && c.code.length>15000) {
   console.log("==", c.fileName, c.code.length, gzipSync(c.code,{level:9}).length);
   const by = {};
   for (const [id, m] of Object.entries(c.modules)) { const k = id.replace(/.*node_modules\//, "nm/").replace(/.*\/fe\/src\//, "").replace(/^(nm\/(?:@[^/]+\/)?[^/]+).*/, "$1"); by[k] = (by[k] ?? 0) + (m.code ? gzipSync(m.code).length : 0); }
   for (const [k, v] of Object.entries(by).sort((a, b) => b[1] - a[1]).slice(0, 60)) if (v>250) console.log("   ", v, k);
  } } }] });
