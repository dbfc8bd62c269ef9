/** Pixels that are computed in memory and put on a canvas at once. */
export interface Raster {
  /** Row by row, 4 bytes for a pixel; what is not covered is transparent. */
  readonly pixels: Uint32Array;
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen for one of the page. */
  readonly ratio: number;
}
