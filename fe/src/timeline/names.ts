/** The names of one rank's slices by number: the costliest with the first that is to be read, others when they are. */

/** How many the costliest are; the server numbers them from 0. */
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
  /** How many of the costliest are on their way, or here; null until a name is to be read. */
  private first: number | null = null;

  constructor(private readonly options: Options) {}

  /** Undefined until it is here; then `onChange` is called. */
  text(name: number): string | undefined {
    const found = this.texts.get(name);
    if (found === undefined) {
      this.first ??= this.begin();
      if (name >= this.first && !this.asked.has(name)) this.wanted.add(name);
    }
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

  private begin(): number {
    const count = Math.min(FIRST, this.options.total);
    if (count > 0) void this.fetch({ from: 0, count });
    return count;
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
      // Slices stay without labels; another frame asks again for those that are to be read.
      if ("ids" in which) for (const id of which.ids.split(",")) this.asked.delete(Number(id));
      else this.first = 0;
    }
    this.busy = false;
    this.options.onChange();
  }
}
