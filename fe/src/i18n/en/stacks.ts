export const stacks = { title: "stacks" };
