/** What slices may be coloured by. */
export const COLOR_BY = ["category", "name", "stream", "operator"] as const;
export type ColorBy = (typeof COLOR_BY)[number];
