/** Puts the page together. */
// First, so that the style of a part wins over what holds everywhere.
import "./ui/theme.css";
import "./ui/controls.css";
import { focusManager, type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient, openReport, type Report, setBase } from "./api";
import { setNumberLocale } from "./format";
import { followTheme, onHostReload, watchVisibility } from "./host";
import { t } from "./i18n";
import { Shell } from "./shell/Shell";
import { TraceProvider } from "./state";
import { COMPONENTS, INSPECTORS } from "./views/registry";

/** Renders into the body of the page we are in, which in TensorBoard is the plugin's own frame; gives what keeps answers. */
export function mount(report: Report | null): QueryClient {
  openReport(report);
  if (report === null) setBase(serverRoot());
  setNumberLocale(t.lang);
  followTheme();
  document.documentElement.lang = t.lang;
  document.title = t.product;

  const root = document.createElement("div");
  root.id = "torch-tb-profiler";
  document.body.append(root);

  const client = createQueryClient();
  onHostReload(() => void client.invalidateQueries());
  // Hidden: nothing is polled.
  focusManager.setEventListener((setFocused) => watchVisibility(root, setFocused));

  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <TraceProvider>
          <Shell views={COMPONENTS} inspectors={INSPECTORS} />
        </TraceProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
  return client;
}

/**
 * Where `index.js` lies and the server's routes begin. Taken from our own address, which holds
 * under any path prefix, and not from the page's, which in TensorBoard is another one.
 */
function serverRoot(): URL {
  const self = import.meta.url;
  // The build puts chunks into assets/, one level below (see vite.config.ts).
  return new URL(import.meta.env.DEV ? "/" : "../", self);
}
