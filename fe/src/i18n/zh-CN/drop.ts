import type { drop as words } from "../en/drop";

export const drop: typeof words = {
  here: "将跟踪或内存快照拖放到此处，作为一次运行打开",
  sending: (name, size) => `正在打开 ${name}（${size}）…`,
  problems: (n) => `${n} 个文件未能打开`,
  large: (name, size, most) =>
    `${name} 的大小为 ${size}；可拖放的文件最大为 ${most}。请用该文件的路径启动 torch-tb-profiler serve，直接在原处读取。`,
  unread: (name) =>
    `无法读取 ${name}。文件夹不能拖放：请用文件夹的路径启动 torch-tb-profiler serve。`,
  refused:
    "此服务器不接收文件，因为其他机器可能访问它。请用文件的路径启动 torch-tb-profiler serve。",
};
