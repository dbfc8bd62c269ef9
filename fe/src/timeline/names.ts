/** The names of one rank's slices by number: the costliest at once, the others when they are to be read. */

/** Asked for before anything is drawn. */
const FIRST = 2_000;
const MOST = 2_000;

interface Options {
  readonly total: number;
  readonly load: (
    which: { from: number; count: number } | { ids: string },
  ) => Promise<{ ids: number[]; names: string[]; labels: (string | null)[] }>;
  readonly onChange: () => void;
}

export class Names {
  private readonly texts = new Map<number, string>();
  /** Of names that are too long to be written. */
  private readonly labels = new Map<number, string>();
  private readonly asked = new Set<number>();
  private readonly wanted = new Set<number>();
  private busy = false;

  constructor(private readonly options: Options) {
    if (options.total > 0) void this.fetch({ from: 0, count: Math.min(FIRST, options.total) });
  }

  /** Undefined until it is here; then `onChange` is called. */
  text(name: number): string | undefined {
    const found = this.texts.get(name);
    if (found === undefined && !this.asked.has(name)) this.wanted.add(name);
    return found;
  }

  /** What is written on a slice: shorter than the name where the server knows a shorter one. */
  label(name: number): string | undefined {
    return this.labels.get(name) ?? this.text(name);
  }

  /** Asks for what `text` could not say; once for every frame. */
  flush(): void {
    if (this.busy || this.wanted.size === 0) return;
    const ids = [...this.wanted].slice(0, MOST);
    for (const id of ids) {
      this.wanted.delete(id);
      this.asked.add(id);
    }
    void this.fetch({ ids: ids.join(",") });
  }

  private async fetch(which: { from: number; count: number } | { ids: string }): Promise<void> {
    this.busy = true;
    try {
      const { ids, names, labels } = await this.options.load(which);
      for (const [at, id] of ids.entries()) {
        this.texts.set(id, names[at] ?? "");
        const label = labels[at];
        if (label) this.labels.set(id, label);
      }
    } catch {
      // Slices stay without labels; another frame asks again for those that were not among the first.
      if ("ids" in which) for (const id of which.ids.split(",")) this.asked.delete(Number(id));
    }
    this.busy = false;
    this.options.onChange();
  }
}
