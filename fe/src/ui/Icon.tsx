/** The few signs the shell uses, drawn on a 16 × 16 grid. Always next to a text or an aria-label. */
const PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.3 10.3l3.2 3.2",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3",
  link: "M6.7 9.3a2.6 2.6 0 0 0 3.7 0l2.1-2.1a2.6 2.6 0 0 0-3.7-3.7l-.7.7M9.3 6.7a2.6 2.6 0 0 0-3.7 0L3.5 8.8a2.6 2.6 0 0 0 3.7 3.7l.7-.7",
  keyboard: "M1.5 4.5h13v7.5h-13zM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.6h6",
  light:
    "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  dark: "M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7z",
  auto: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11M10 4.5v7M12 6.5v3",
  collapse: "M9.5 4 5.5 8l4 4",
  expand: "M6.5 4l4 4-4 4",
  down: "M4.5 6.5 8 10l3.5-3.5",
  enlarge: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  shrink: "M13.5 6.5h-4v-4M9.5 6.5 14 2M2.5 9.5h4v4M6.5 9.5 2 14",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5l3.2 3.2L13 4.8",
  up: "M4.5 9.5 8 6l3.5 3.5",
  pin: "M5.5 2.5h5M6.5 2.5v4l-2 3h7l-2-3v-4M8 9.5v4",
  language:
    "M1.5 3.8h7.5M5.2 2.2v1.6M7.6 3.8C7 6.4 5 8.8 2 10.2M3.1 3.8c.8 2.4 2.4 4.3 4.4 5.6M8.2 13.8l3-7.3 3 7.3M9.3 11.4h3.8",
  hide: "M2 8s2.2-3.8 6-3.8S14 8 14 8s-2.2 3.8-6 3.8S2 8 2 8M3 13 13 3",
} as const;

type IconName = keyof typeof PATHS;

/** One of these, or a path of one's own on the same grid. */
export function Icon({
  name,
  path,
}: { name: IconName; path?: never } | { name?: never; path: string }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={path ?? PATHS[name]} />
    </svg>
  );
}
