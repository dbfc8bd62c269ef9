/** An object of each class that is asked for, made of `from` when it is first asked for. */
export class OneOfEach<From, Base extends object> {
  private readonly made = new Map<new (from: From) => Base, Base>();

  constructor(private readonly from: From) {}

  of<T extends Base>(kind: new (from: From) => T): T {
    const known = this.made.get(kind);
    if (known instanceof kind) return known;
    const made = new kind(this.from);
    this.made.set(kind, made);
    return made;
  }

  entries(): Iterable<[new (from: From) => Base, Base]> {
    return this.made;
  }

  values(): Iterable<Base> {
    return this.made.values();
  }
}
