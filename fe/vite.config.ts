import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { licencesPlugin } from "./licences.ts";
import { tomlPlugin } from "./toml.ts";

// Two doors into one build: TensorBoard imports `index.js` by that name and calls render();
// a browser opens `index.html`. Everything behind them carries a content hash.
export default defineConfig({
  // Every URL in the output is relative to the file that names it, so any path prefix works.
  base: "./",
  plugins: [react(), licencesPlugin(), tomlPlugin()],
  server: {
    host: "127.0.0.1",
    // the server's words in Chinese
    fs: { allow: [".", "../torch_tb_profiler/words"] },
    proxy: { "/api": process.env.API ?? "http://127.0.0.1:6007" },
  },
  build: {
    outDir: "../torch_tb_profiler/static",
    emptyOutDir: true,
    manifest: "manifest.json",
    target: "es2022",
    // The polyfill and data: assets would need a looser content security policy than TensorBoard's.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      input: { index: "src/index.ts", page: "index.html" },
      preserveEntrySignatures: "strict",
      output: {
        entryFileNames: (chunk) =>
          chunk.name === "index" ? "index.js" : "assets/[name]-[hash:7].js",
        chunkFileNames: "assets/[name]-[hash:7].js",
        assetFileNames: "assets/[name]-[hash:7][extname]",
        // Without groups each set of views that share a module has a chunk of its own: 30 requests for a view.
        codeSplitting: {
          groups: [
            // Small, so that the door, which is fetched anew on every visit, brings no other chunk along.
            { name: "preload", test: /vite\/preload-helper/ },
            // What every page needs and seldom changes.
            {
              name: "react",
              test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-query|query-core))\//,
            },
            // What the frame of the page needs. A group takes along what its modules import, unless a group above has it.
            {
              name: "base",
              test: /\/src\/(host\/(?!perfetto|editor|useComputed)|state\/(?!baseline)|api\/(client|poll|queries|report|timeline|trace)\.|format\/(bytes|date|duration|number)\.|draw\/timeWindow|shell\/(presence|progress)|ui\/(?!ComboList|SourceLink|lines|[Cc]rumbs|[Tt]extField|[Ff]acts|[Ff]low|Each|[Ss]watch|PartButton|Segmented|[Tt]ile|[Pp]opup|options|categories)|i18n\/(\w+\.ts|en\/(index|shell)))/,
            },
            // What views have in common besides. The frame does without it: it is fetched with the first view.
            {
              name: "shared",
              test: /\/src\/((format|api|draw)\/(?!drop)|(host|state)\/|ui\/(?!ComboList|SourceLink|[Tt]extField)|shell\/(places|Choice|useDraft|Notes|ViewNotes|notes|utilization|findings\/showInTrace)|i18n\/en\/(parts|dialogs|utilization))/,
            },
            // What the page knows of each view. Not in a piece above: the door loads those before the language is settled.
            { name: "registry", test: /\/src\/views\/\w+\/(view|params)\./ },
            // Of Chinese, too, what every page needs and what views need.
            {
              name: "zh-CN",
              test: /\/zh-CN\/(index|shell|numbers|parts|server\/(reasons|say)|reasons)\./,
            },
            { name: "zh-CN-views", test: /\/(i18n|words)\/zh-CN\// },
            // Short tables, which do without what the large ones below need.
            {
              name: "rows",
              test: /\/src\/(table\/(SimpleTable|ListTable|DeviceTable|RowNumbers|model|columns|listTable\.css)|i18n\/en\/table)/,
            },
            // What Overview shows besides; Steps and Distributed show parts of it.
            {
              name: "findings",
              test: /\/src\/(shell\/(findings|doors|StepChoice|stepChoice)|i18n\/en\/(overview|doors))/,
            },
            { name: "virtual", test: /node_modules\/@tanstack\/(react-virtual|virtual-core)\// },
            {
              name: "table",
              test: /\/src\/(table\/|ui\/[Tt]extField)|node_modules\/@tanstack\//,
            },
            // Without what only one or two views show, and the door, which would take that along.
            {
              name: "charts",
              test: /\/src\/(charts\/(?!index|save|stackedColumns|.*([hH]eat|[sS]egments|[tT]ime(Curve|Range)|[wW]aits|[tT](reemap|ornado)|[dD]eviation|[bB]ars|[dD]onut|[sS]catter|[rR]oofline|[gG]antt|columns|[tT]opN))(scenes\/|\w+\.)|i18n\/en\/charts)/,
            },
            // What Overview shows below its fold.
            {
              name: "bars",
              test: /\/src\/charts\/(.*[bB]ars|.*[dD]onut|.*[tT]opN|stackedColumns|scenes\/columns)/,
            },
          ],
        },
      },
    },
  },
  test: {
    environment: "happy-dom",
    setupFiles: ["src/testSetup.ts"],
    // A process and a document for each file cost six times as much; `testSetup.ts` leaves nothing of a file behind.
    isolate: false,
    pool: "threads",
    include: ["src/**/*.test.ts", "src/**/*.test.tsx"],
    // For a busy machine: what hangs is found all the same.
    testTimeout: 30_000,
  },
});
