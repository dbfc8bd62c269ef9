import type { ChartTheme } from "../../draw";
import { percent, value } from "../../format";
import type { DonutProps } from "../types";
import { base, type ChartOption, plainText, shorten, tooltip } from "./parts";

export type DonutData = Pick<DonutProps, "slices" | "unit" | "legend">;

export function donutOption(
  { slices, unit, legend = true }: DonutData,
  theme: ChartTheme,
  width: number,
): ChartOption {
  const total = slices.reduce((sum, slice) => sum + slice.value, 0);
  const share = (part: number) => percent(total > 0 ? (part / total) * 100 : 0);
  // Half of the width is the ring; swatch, share and gaps take about 90 pixels of the rest.
  const characters = Math.max(12, Math.floor((width * 0.52 - 90) / 7.3));
  const at = (index: number) => slices[index] ?? { label: "", value: 0 };

  return {
    ...base(theme),
    tooltip: tooltip(theme, "item", (index) => {
      const { label, value: part } = at(index);
      return { title: label, lines: [{ label: "", value: value(part, unit), share: share(part) }] };
    }),
    legend: {
      show: legend,
      type: "scroll",
      orient: "vertical",
      left: "48%",
      top: "middle",
      icon: "rect",
      itemWidth: 12,
      itemHeight: 12,
      textStyle: { color: theme.text },
      pageTextStyle: { color: theme.muted },
      pageIconColor: theme.text,
      pageIconInactiveColor: theme.line,
      // Slices are named by their position: two of them may carry the same label.
      formatter: (name) => {
        const { label, value: part } = at(Number(name));
        return `${share(part)}  ${plainText(shorten(label, characters))}`;
      },
    },
    series: [
      {
        type: "pie",
        radius: legend ? ["46%", "76%"] : ["56%", "96%"],
        center: [legend ? "24%" : "50%", "50%"],
        label: { show: false },
        emphasis: { scaleSize: 4 },
        itemStyle: { borderColor: theme.surface, borderWidth: 1 },
        data: slices.map(({ value: part, color }, index) => ({
          name: String(index),
          value: part,
          ...(color ? { itemStyle: { color: theme.resolve(color) } } : {}),
        })),
      },
    ],
  };
}
