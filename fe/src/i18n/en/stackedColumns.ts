import { area } from "../translation";

export const stackedColumns = area("stackedColumns", {
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  all: "Show all",
  keys: "Arrow keys go from column to column, Enter picks one, + and − zoom, 0 shows all. Drag over the picture to zoom in.",
  shown: (from: string, to: string, of: string) => `${from}–${to} of ${of}`,
  /** Under a picture in which items share columns. */
  merged: (n: string, what: string) =>
    `Each column is the mean of ${n} ${what}; the thin line goes from the shortest to the longest of them. Click one to zoom in.`,
  meanOf: (n: string, what: string) => `mean of ${n} ${what}`,
  least: "Shortest",
  most: "Longest",
  total: "Total",
  missing: "not recorded",
  legend: "Colours",
  strip: "All of them; drag to choose what is shown above",
});
