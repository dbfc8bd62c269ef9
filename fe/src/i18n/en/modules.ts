export const modules = { title: "modules" };
