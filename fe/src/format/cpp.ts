/** What the C++ names of most kernels have in common: the return type and the namespaces of PyTorch. */
const NOISE = /^void |\(anonymous namespace\)::|\bat::native::/g;

/** A kernel's name without what does not tell it from others. */
export function bareName(name: string): string {
  return name.replace(NOISE, "") || name;
}

/** `f<(A)1>(int, g(int))` without its last pair of parentheses. */
export function withoutParameters(name: string): string {
  if (!name.endsWith(")")) return name;
  let depth = 0;
  for (let at = name.length - 1; at > 0; at--) {
    if (name[at] === ")") depth++;
    else if (name[at] === "(" && --depth === 0) return name.slice(0, at);
  }
  return name;
}
