import type { FirstMessages } from "../values";
import { shell } from "./shell";

/** What every page needs. Texts of views and of what they draw with are areas, each a module of its own. */
export const en = {
  lang: "en",
  ...shell,
  /** What the server says: its own words. */
  serverMessages: { reason: () => undefined } as FirstMessages,
};

export type Messages = typeof en;
