/** Of the files that are imported by name: the words of columns. */
declare module "*.toml" {
  const tables: Readonly<
    Record<string, Readonly<Record<string, readonly [label: string, help: string]>>>
  >;
  export default tables;
}
