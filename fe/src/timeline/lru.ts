/** Values with weights, in the order in which they were last used. Pure. */
export class Lru<T> {
  private readonly kept = new Map<string, { readonly value: T; readonly weight: number }>();
  private total = 0;

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

  /** 0 for what is not here. */
  weightOf(key: string): number {
    return this.kept.get(key)?.weight ?? 0;
  }

  set(key: string, value: T, weight: number): void {
    this.delete(key);
    this.kept.set(key, { value, weight });
    this.total += weight;
  }

  /** Drops what was not used for longest, except what `stays`, until all that is left weighs no more than `limit`. */
  shrink(limit: number, stays: (key: string) => boolean): void {
    for (const oldest of this.kept.keys()) {
      if (this.total <= limit) break;
      if (!stays(oldest)) this.delete(oldest);
    }
  }

  private delete(key: string): void {
    const found = this.kept.get(key);
    if (!found) return;
    this.kept.delete(key);
    this.total -= found.weight;
  }
}
