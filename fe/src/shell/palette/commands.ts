/** What the shell does; the palette only offers it. */
export interface Commands {
  readonly refresh: () => void;
  readonly copyLink: () => void;
  /** Saves a report. */
  readonly report: () => void;
  readonly keys: () => void;
  readonly files: () => void;
  readonly notes: () => void;
}
