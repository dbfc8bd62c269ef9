/** The colour of a series or category, in front of its name. */
export function Swatch({ color }: { readonly color: string }) {
  return <i className="swatch" style={{ background: color }} />;
}
