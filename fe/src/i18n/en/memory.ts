export const memory = { title: "memory" };
