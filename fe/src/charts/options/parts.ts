import type { BarSeriesOption, LineSeriesOption, PieSeriesOption } from "echarts/charts";
import type {
  AriaComponentOption,
  GridComponentOption,
  LegendComponentOption,
  TooltipComponentOption,
} from "echarts/components";
import type { ComposeOption } from "echarts/core";
import { type ChartTheme, type TooltipContent, tooltipNode } from "../../draw";
import { bareName, withoutParameters } from "../../format";

export type ChartOption = ComposeOption<
  | BarSeriesOption
  | LineSeriesOption
  | PieSeriesOption
  | AriaComponentOption
  | GridComponentOption
  | LegendComponentOption
  | TooltipComponentOption
>;

/** What all charts share. */
export function base(theme: ChartTheme): ChartOption {
  return {
    animation: false,
    textStyle: { color: theme.text, fontFamily: theme.font, fontSize: 12 },
    color: [...theme.series],
    aria: { enabled: theme.patterns, label: { enabled: false }, decal: { show: theme.patterns } },
  };
}

/** A tooltip that can only show text: `draw` makes DOM nodes, never markup. */
export function tooltip(
  theme: ChartTheme,
  trigger: "item" | "axis",
  content: (index: number) => TooltipContent,
): TooltipComponentOption {
  return {
    trigger,
    renderMode: "html",
    confine: true,
    transitionDuration: 0,
    backgroundColor: theme.surface,
    borderColor: theme.line,
    borderWidth: 1,
    padding: [8, 10],
    textStyle: { color: theme.text, fontFamily: theme.font, fontSize: 12 },
    extraCssText: "max-width:min(560px,90%);white-space:normal;overflow-wrap:anywhere",
    formatter: (params) => {
      const index = (Array.isArray(params) ? params[0] : params)?.dataIndex;
      return index === undefined ? "" : tooltipNode(content(index));
    },
  };
}

/** `{style|text}` is markup in labels; a zero-width space keeps braces in names from being read so. */
export function plainText(text: string): string {
  return text.replaceAll("{", "{\u200b");
}

/**
 * Keeps both ends of a long name: kernels of one family differ at the end. What every C++ name has in common goes
 * first: the return type, the namespaces of PyTorch and the parameters.
 */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const bare = bareName(withoutParameters(text));
  if (bare.length <= length) return bare;
  const tail = Math.floor((length - 1) / 3);
  return `${bare.slice(0, length - 1 - tail)}…${bare.slice(bare.length - tail)}`;
}
