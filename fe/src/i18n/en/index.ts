import type { ServerMessages } from "../values";
import { shell } from "./shell";

/** What every page needs. Texts of views and of what they draw with are areas, each a module of its own. */
export const en = {
  lang: "en",
  ...shell,
  /** What the server says, by its own words; those that are not here are shown as they are. */
  server: {} as Record<string, string>,
  /** Notes and findings: the server's own words. */
  serverMessages: { notes: {}, findings: {}, evidence: {}, reasons: {} } as ServerMessages,
};

export type Messages = typeof en;
