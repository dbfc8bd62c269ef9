// Writes src/api/schema.gen.ts: the answers of the server as TypeScript, from docs/openapi.json.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const DOCUMENT = fileURLToPath(new URL("../docs/openapi.json", import.meta.url));
const OUTPUT = fileURLToPath(new URL("src/api/schema.gen.ts", import.meta.url));
const JSON_TYPE = "application/json";
/** Of the old plugin's routes, which the page does not ask. */
const FOREIGN = /^Old[A-Z]/;

const document = JSON.parse(readFileSync(DOCUMENT, "utf8"));
const schemas = Object.entries(document.components.schemas).filter(([name]) => !FOREIGN.test(name));

const lines = [
  "// Made by `npm run types` from docs/openapi.json. Not to be edited.",
  "",
  "/** What a cell of a table holds. */",
  "export type Cell = string | number | boolean | null;",
];
for (const [name, schema] of schemas) {
  const body = typeOf(schema, "");
  lines.push("", ...comment(schema.description, ""));
  lines.push(body.startsWith("{") ? `export interface ${name} ${body}` : `export type ${name} = ${body};`);
}
lines.push("", "/** The JSON answer of each route below `/api/`. */", "export interface Answers {");
for (const [path, { get }] of Object.entries(document.paths)) {
  const schema = get?.responses["200"]?.content?.[JSON_TYPE]?.schema;
  if (!path.startsWith("/api/") || !schema) continue;
  lines.push(`  ${JSON.stringify(path.slice("/api/".length))}: ${typeOf(schema, "  ")};`);
}
lines.push("}", "");
const text = lines.join("\n");

// Scripts that run beside each other read a whole file or none.
if (!existsSync(OUTPUT) || readFileSync(OUTPUT, "utf8") !== text) {
  const made = `${OUTPUT}.${process.pid}`;
  writeFileSync(made, text);
  renameSync(made, OUTPUT);
}

/** A schema as a type; `indent` is that of the line on which it stands. */
function typeOf(schema, indent) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf ?? arrayed(schema.type);
  if (choices) return [...new Set(choices.map((choice) => typeOf(choice, indent)))].join(" | ");
  switch (schema.type) {
    case "array":
      return arrayOf(schema.items, indent);
    case "object":
      return objectOf(schema, indent);
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "unknown";
  }
}

function arrayed(type) {
  return Array.isArray(type) ? type.map((one) => ({ type: one })) : null;
}

/** The document leaves open only what columns of tables hold. */
function arrayOf(items, indent) {
  if (!items || Object.keys(items).length === 0) return "Cell[]";
  const type = typeOf(items, indent);
  return /^[\w"]+$|^\{[^|]*\}$/.test(type) ? `${type}[]` : `(${type})[]`;
}

function objectOf(schema, indent) {
  const inner = `${indent}  `;
  if (!schema.properties) {
    const values = schema.additionalProperties;
    return `{ [key: string]: ${values && values !== true ? typeOf(values, indent) : "unknown"} }`;
  }
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties).flatMap(([key, field]) => [
    ...comment(field.description, inner),
    `${inner}${/^\w+$/.test(key) ? key : JSON.stringify(key)}${required.has(key) ? "" : "?"}: ${typeOf(field, inner)};`,
  ]);
  return ["{", ...fields, `${indent}}`].join("\n");
}

function comment(text, indent) {
  if (!text) return [];
  const words = text.trim().replaceAll("*/", "* /").split("\n");
  if (words.length === 1) return [`${indent}/** ${words[0]} */`];
  return [`${indent}/**`, ...words.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}
