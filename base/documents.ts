import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';

/** The documentation that ships with this version, as Markdown, and the schema of its configuration. */

/** The index of the documentation for programs. Source of its form: llmstxt.org. */
export const documentIndex = 'llms.txt';

/** The schema of pigeonpost.yaml for editors. */
export const configurationSchema = 'docs/pigeonpost.schema.json';

/** Documents in the folder of the package itself. */
export const rootDocuments: readonly string[] = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** Returns the paths of all Markdown documents, relative to the package, such as `docs/imports.md`. Reads the folder each time. */
export function documentPaths(): string[] {
  const names = readdirSync(join(packageRoot(), 'docs'), { recursive: true }) as string[];
  const inDocs = names.map((name) => `docs/${name}`);
  return [...rootDocuments, ...inDocs.filter((path) => path.endsWith('.md')).toSorted()];
}

/** @param path one of `documentPaths`, or the schema */
export function readDocument(path: string): string {
  return readFileSync(join(packageRoot(), path), 'utf8');
}

export interface DocumentHead {
  readonly title: string;
  /** The first sentence as plain text; empty if the document does not begin with one. */
  readonly about: string;
}

/** Returns the title and the first sentence of a Markdown document. Pure. */
export function headOf(text: string): DocumentHead {
  const [, title = '', rest = ''] = /^# (.*)\n([^]*)$/.exec(text) ?? [];
  const [first = ''] = rest
    .replaceAll(/<!--[^]*?-->/g, '')
    .trim()
    .split(/\n\s*\n/);
  const isText = !/^(?:[#|>`]|- |\d\. )/.test(first);
  const plain = plainText(first.replace(/^\*\*[^*]+\.\*\*/, '')).trim();
  return { title: plainText(title), about: isText ? (/^.*?\.(?= |$)/.exec(plain)?.[0] ?? '') : '' };
}

function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|[*`](?=\S)|(?<=\S)[*`]/g, '')
    .replaceAll(/\s+/g, ' ');
}

/**
 * Returns the text of llms.txt: the sections and documents of docs/README.md, each with its title and first sentence.
 * The decisions are last, in the section that a program with little room may skip.
 */
export function documentIndexText(): string {
  const [, ...sections] = readDocument('docs/README.md').split(/^(?=\*\*.+\*\*$)/m);
  const paths = documentPaths();
  const { title, about } = headOf(readDocument('README.md'));
  return `${[
    `# ${title}`,
    `> ${about}`,
    ...sections.map((section) => `## ${/^\*\*(.+)\*\*/.exec(section)![1]!}\n\n${linesOf(linksIn(section))}`),
    `## Schemas\n\n- [pigeonpost.schema.json](${configurationSchema}): JSON Schema (draft 7) of pigeonpost.yaml`,
    `## Optional\n\n${linesOf(['CHANGELOG.md', 'SECURITY.md', ...paths.filter((path) => path.startsWith('docs/decisions/0'))])}`,
  ].join('\n\n')}\n`;
}

/** Returns the documents to which docs/README.md links, as paths relative to the package. */
function linksIn(section: string): string[] {
  const links = [...section.matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, link]) => link!);
  return links.map((link) => (link.startsWith('../') ? link.slice('../'.length) : `docs/${link}`));
}

function linesOf(paths: readonly string[]): string {
  const lines = paths.map((path) => {
    const { title, about } = headOf(readDocument(path));
    return `- [${title}](${path})${about === '' ? '' : `: ${about}`}`;
  });
  return lines.join('\n');
}
