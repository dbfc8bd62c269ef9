/** Sentences of the server in Chinese: `torch_tb_profiler/words/zh-CN`. */
import columnsOfTables from "../../../../../torch_tb_profiler/words/zh-CN/columns.toml";
import otherDevices from "../../../../../torch_tb_profiler/words/zh-CN/platforms.toml";
import type { ServerMessages } from "../../values";
import { type Section, say } from "./say";

type File = Readonly<Record<string, Section>>;

const files = import.meta.glob<File>("../../../../../torch_tb_profiler/words/zh-CN/**/*.toml", {
  eager: true,
  import: "default",
});

/** By the folder, or the file where there is none, the sections with what their file shares. */
const sections: Record<string, Record<string, readonly [own: Section, shared: Section]>> = {};
for (const [path, file] of Object.entries(files)) {
  const area = /zh-CN\/(\w+)/.exec(path)?.[1] ?? "";
  const shared = file.shared ?? {};
  const own = Object.entries(file).map(([name, section]) => [name, [section, shared]]);
  sections[area] = { ...sections[area], ...Object.fromEntries(own) };
}

export const words: ServerMessages["words"] = (area, name, key, values) => {
  const section = sections[area]?.[name];
  return section && say(...section, key, values);
};

/** Label and definition of each column, by its id: see `Definition` of the server. */
export const columns: ServerMessages["columns"] = Object.fromEntries(
  Object.entries(columnsOfTables).flatMap(([table, words]) =>
    Object.entries(words).map(([name, said]) => [`${table}.${name}`, said]),
  ),
);

/** What is written for CUDA, and what is meant on other devices. */
export const platforms: ServerMessages["platforms"] = Object.fromEntries(
  Object.entries(otherDevices.groups).map(([platform, groups]) => [
    platform,
    groups.flatMap((group) => Object.entries(otherDevices.clauses[group] ?? {})),
  ]),
);
