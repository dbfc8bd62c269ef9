import { area } from "../translation";

/** Files that are dragged onto the page. */
export const drop = area("drop", {
  here: "Drop traces or memory snapshots here to open them as one run",
  sending: (name: string, size: string) => `Opening ${name} (${size})…`,
  problems: (n: number) => (n === 1 ? "A file was not opened" : `${n} files were not opened`),
  large: (name: string, size: string, most: string) =>
    `${name} has ${size}; files of up to ${most} can be dropped. Start torch-tb-profiler serve with the path of the file: it is then read where it is.`,
  unread: (name: string) =>
    `${name} could not be read. A folder cannot be dropped: start torch-tb-profiler serve with its path.`,
  refused:
    "This server takes no files, because other machines may reach it. Start torch-tb-profiler serve with the path of the file.",
});
