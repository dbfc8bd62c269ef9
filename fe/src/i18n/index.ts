import { en } from "./en";

export type Messages = typeof en;

/** The messages of the language in use. Another language is another object of the same type. */
export const t: Messages = en;
