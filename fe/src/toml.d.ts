// Files that are imported by name.
declare module "*/columns.toml" {
  const tables: Readonly<
    Record<string, Readonly<Record<string, readonly [label: string, help: string]>>>
  >;
  export default tables;
}

declare module "*/platforms.toml" {
  const tables: {
    readonly groups: Readonly<Record<string, readonly string[]>>;
    readonly clauses: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  export default tables;
}

declare module "*/reasons.toml" {
  import type { Section } from "./i18n/zh-CN/server/say";

  const tables: Readonly<Record<"texts" | "shared", Section>>;
  export default tables;
}

declare module "*/parts.toml" {
  const tables: Readonly<Record<"names" | "kinds", Readonly<Record<string, string>>>>;
  export default tables;
}
