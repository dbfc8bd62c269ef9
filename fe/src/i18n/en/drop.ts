import { area } from "../translation";

/** Files that are dragged onto the page. */
export const drop = area("drop", {
  here: "Drop traces or memory snapshots here to open them as one run",
  sending: (name: string, size: string) => `Opening ${name} (${size})…`,
  problems: (n: number) => (n === 1 ? "A file was not opened" : `${n} files were not opened`),
  large: (name: string, size: string, most: string) =>
    `${name} is ${size}; only files of up to ${most} can be dropped. Start torch-tb-profiler serve with the path of the file instead.`,
  unread: (name: string) =>
    `${name} could not be read. A folder cannot be dropped: start torch-tb-profiler serve with its path.`,
  refused:
    "This server accepts no files, because other machines can reach it. Start torch-tb-profiler serve with the path of the file.",
});
