/** Keeps what was used last, up to a weight. Pure. */
export class Lru<T> {
  private readonly kept = new Map<string, { readonly value: T; readonly weight: number }>();
  private total = 0;

  /** `limit`: of all weights together. What is put in last stays, whatever it weighs. */
  constructor(private readonly limit: number) {}

  get weight(): number {
    return this.total;
  }

  get(key: string): T | undefined {
    const found = this.kept.get(key);
    if (!found) return undefined;
    this.kept.delete(key);
    this.kept.set(key, found);
    return found.value;
  }

  set(key: string, value: T, weight: number): void {
    this.delete(key);
    this.kept.set(key, { value, weight });
    this.total += weight;
    for (const oldest of this.kept.keys()) {
      if (this.total <= this.limit || oldest === key) break;
      this.delete(oldest);
    }
  }

  private delete(key: string): void {
    const found = this.kept.get(key);
    if (!found) return;
    this.kept.delete(key);
    this.total -= found.weight;
  }
}
