export const trace = { title: "trace" };
