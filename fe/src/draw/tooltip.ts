export interface TooltipLine {
  readonly label: string;
  readonly value: string;
  readonly share?: string;
  readonly color?: string;
}

export interface TooltipContent {
  readonly title: string;
  readonly subtitle?: string | undefined;
  readonly lines: readonly TooltipLine[];
}

/** Text becomes text nodes: a name from a trace file can carry any characters. */
export function tooltipNode({ title, subtitle, lines }: TooltipContent): HTMLElement {
  const node = element("div", "chart-tooltip");
  node.append(element("div", "chart-tooltip-title", title));
  if (subtitle) node.append(element("div", "chart-tooltip-subtitle", subtitle));
  const list = element("div", "chart-tooltip-lines");
  for (const { label, value, share, color } of lines) {
    const swatch = element("span", "chart-tooltip-swatch");
    if (color) swatch.style.backgroundColor = color;
    const name = element("span", "", label);
    name.prepend(swatch);
    list.append(
      name,
      element("span", "chart-tooltip-value", value),
      element("span", "chart-tooltip-share", share),
    );
  }
  node.append(list);
  return node;
}

function element(tag: "div" | "span", className: string, text = ""): HTMLElement {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}
