/** Which rows of a tree are open, in as few letters as possible, because the address holds it. Pure. */

/** `usual`: as the table has it at first; then what was opened or closed by hand. */
export interface Expansion {
  readonly base: "usual" | "all" | "none";
  readonly toggled: ReadonlySet<number>;
}

/** `all~3.1f`: everything but the rows with these keys (base 36); "" is the usual state. */
export function parseExpansion(text: string): Expansion {
  const [base, keys = ""] = text.split("~", 2);
  const toggled = keys
    .split(".")
    .map((key) => (/^[0-9a-z]+$/.test(key) ? Number.parseInt(key, 36) : Number.NaN))
    .filter((key) => Number.isSafeInteger(key));
  return { base: base === "all" || base === "none" ? base : "usual", toggled: new Set(toggled) };
}

export function formatExpansion({ base, toggled }: Expansion): string {
  const keys = [...toggled].map((key) => key.toString(36)).join(".");
  return `${base === "usual" ? "" : base}${keys ? `~${keys}` : ""}`;
}

/** `usual`: whether the row is open at first. */
export function isOpen({ base, toggled }: Expansion, key: number, usual: boolean): boolean {
  return (base === "usual" ? usual : base === "all") !== toggled.has(key);
}

export function toggle(expansion: Expansion, key: number): Expansion {
  const toggled = new Set(expansion.toggled);
  if (!toggled.delete(key)) toggled.add(key);
  return { ...expansion, toggled };
}
