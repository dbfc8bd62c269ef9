/** How much of the peak a program uses, as views show it. Not part of the first load. */
export { shownUtilization, UtilizationTiles } from "./UtilizationTiles";
