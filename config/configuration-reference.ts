import type { z } from 'zod';
import { inputSchemaOf, variants, type JsonSchema } from './parse-tree.js';
import type { SinkSchemas } from './parse-sinks.js';
import { configSchema } from './schema/config-schema.js';

/**
 * Returns docs/configuration.md as Markdown: every key of the schema with its allowed values, default and description.
 * The text ends with a line break. tools/write-configuration-reference.mjs writes the file, and a test compares it.
 * @param sinkSchemas schemas of the sink types whose own keys are included
 */
export function configurationReference(sinkSchemas: SinkSchemas): string {
  return `${[generalReference(), ...sinkReferences(sinkSchemas)].join('\n\n')}\n`;
}

/** Returns the part without sink types, so that a test can compare it without knowing any. */
export function generalReference(): string {
  const sections = Object.entries(inputSchemaOf(configSchema).properties ?? {}).map(([key, schema]) =>
    section(key, schema),
  );
  return [introduction, ...sections].join('\n\n');
}

function sinkReferences(sinkSchemas: SinkSchemas): string[] {
  return Object.entries(sinkSchemas)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([type, schema]) => sinkReference(type, schema));
}

function sinkReference(type: string, schema: z.ZodType): string {
  const rows = variants(inputSchemaOf(schema)).flatMap((shape) => rowsBelow(shape, 'sinks.NAME'));
  return [`## Sinks of type ${type}`, 'Keys of this type, in addition to the keys of all sinks.', table(rows)].join(
    '\n\n',
  );
}

function section(key: string, schema: JsonSchema): string {
  const rows = rowsBelow(schema, key);
  // If there are no keys below this key, its own row has the description.
  if (rows.length === 0) return [`## ${key}`, table([row(key, schema, false)])].join('\n\n');
  return [`## ${key}`, schema.description ?? '', table(rows)].join('\n\n');
}

/**
 * Returns the rows of all keys below one. A key with a free name is written NAME, or LIST if it is the name of a list.
 */
function rowsBelow(schema: JsonSchema, parent: string): string[] {
  return variants(schema).flatMap((shape) => {
    const type = shape.properties?.type?.const; // the type that selects this shape, if there are several shapes
    const condition = type === undefined ? '' : `With ${code(`type: ${type}`)}. `;
    const rows = Object.entries(shape.properties ?? {}).flatMap(([key, value]) => {
      const path = `${parent}.${key}`;
      const described = key === 'type' ? value : { ...value, description: `${condition}${value.description ?? ''}` };
      return [row(path, described, shape.required?.includes(key) === true), ...rowsBelow(value, path)];
    });
    if (typeof shape.additionalProperties === 'object') {
      const any = shape.propertyNames?.enum === undefined ? 'NAME' : 'LIST';
      rows.push(...rowsBelow(shape.additionalProperties, `${parent}.${any}`));
    }
    if (shape.items !== undefined) rows.push(...rowsBelow(shape.items, `${parent}[]`));
    return rows;
  });
}

function row(path: string, schema: JsonSchema, isRequired: boolean): string {
  const standard = schema.default ?? schema.shownDefault;
  // An empty group as a default is not shown: it only means that the keys below it have their own defaults.
  const isPlain =
    standard !== undefined && !(typeof standard === 'object' && standard !== null && !Array.isArray(standard));
  const defaultText = isRequired ? 'required' : isPlain ? code(JSON.stringify(standard).replaceAll('"', '')) : '';
  return `| ${[code(path), allowedText(schema), defaultText, schema.description ?? ''].map(cell).join(' | ')} |`;
}

/** Shorter texts for values that the introduction, or `syncs.NAME.lists`, explains once. */
const shortTexts: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/, written as `\$\{NAME\}` or `\$\{file:\/path\}`/, ''],
  [/, without user, query or fragment/, ''],
  [/a JSONata expression/, 'an expression'],
  [/ from 1ms to 3650d/, ''],
  [/^one of sessions, attendees, [a-z_, -]+$/, 'the name of a list'],
  [/^a list of sessions, attendees, [a-z_, -]+$/, 'names of lists'],
];

function allowedText(schema: JsonSchema): string {
  return shortTexts.reduce((short, [pattern, text]) => short.replace(pattern, text), valuesText(schema));
}

function valuesText(schema: JsonSchema): string {
  if (schema.allowed !== undefined) return schema.allowed;
  const shapes = variants(schema).map((shape) => {
    if (shape.const !== undefined) return code(shape.const);
    if (shape.allowed !== undefined) return shape.allowed;
    if (shape.type === 'boolean') return 'true or false';
    if (shape.type === 'object') return shape.properties === undefined ? 'a group' : 'a group of the keys below';
    if (shape.type === 'array') return 'a list';
    return shape.type === 'string' ? 'a text' : (shape.type ?? '');
  });
  return [...new Set(shapes)].filter((shape) => shape !== '').join(', or ');
}

const table = (rows: readonly string[]) =>
  ['| key | value | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');

const code = (text: string) => `\`${text}\``;

/** Escapes bars, which would end the cell of a table. */
const cell = (text: string) => text.replaceAll('|', '\\|');

const introduction = `# pigeonpost.yaml

<!-- Written from the schema by tools/write-configuration-reference.mjs: change the descriptions in config/, not this file. -->

pigeonpost reads the file once, at the start, and reports all problems together, each with line and key, such as
\`pigeonpost.yaml:12: syncs.conferences.every.live: found "5x", allowed: a duration such as 5s, 30m, 6h\`. Unknown keys are refused; a key with nothing after its colon counts as absent.

**In an editor.** The first line that \`pigeonpost init\` writes, \`# yaml-language-server: $schema=…\`, names [pigeonpost.schema.json](pigeonpost.schema.json), a JSON Schema (draft 7) in the folder \`docs\` of the installed package. It works without a network. VS Code needs the extension *YAML* by Red Hat; Neovim, Helix, Zed, Emacs and others use the same [language server](https://github.com/redhat-developer/yaml-language-server). In a file without that line, add it, with the path of the schema relative to the file or from \`/\`. If only the image is installed, use the address of a running pigeonpost: \`http://127.0.0.1:8088/docs/pigeonpost.schema.json\`. \`pigeonpost check\` finds more, for example names that do not exist.

**References.** \`\${NAME}\` is the value of an environment variable, which must be set; \`\${NAME:-default}\` is used if the variable is unset or empty, and \`\${NAME:-}\` then leaves the key out; \`\${file:/run/secrets/name}\` is the content of a file without its last line break.
\`$\${\` is a literal \`\${\`. Inside \`{ }\` or \`[ ]\`, quote references.

**Secrets** must not be in this file. Write \`\${NAME}\` or \`\${file:/path}\`; a literal or a default is refused. **Addresses** have no user, query or fragment. **Expressions** are [JSONata](mapping.md).

**Durations** are whole numbers with a unit: \`500ms\`, \`5s\`, \`30m\`, \`6h\`, \`400d\` (at most \`3650d\`). **Paths** are relative to the folder of this file.
**Names** of workspaces, syncs and sinks consist of a-z, 0-9 and -. \`NAME\` below is such a name, \`LIST\` the name of a list, \`[]\` each
entry of a list. YAML aliases and tags are not supported.`;
