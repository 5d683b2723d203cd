import { documentPaths, readDocument } from '../../base/documents.js';
import { CommandError, ExitCode } from '../exit-code.js';

/** Search in the documentation of this version, which is part of the package. */

interface Section {
  /** Path of the document, with the fragment of the heading. */
  readonly address: string;
  /** Headings from the title to this one. */
  readonly heading: string;
  readonly text: string;
}

const maxFound = 8;
const excerptLength = 300;

/** Returns the sections that have most of the words, the best first: address, heading and beginning of each. */
export function findSections(query: string): string[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const sections = documentPaths()
    .filter((path) => !path.startsWith('docs/decisions/'))
    .flatMap(sectionsOf);
  const found = sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, maxFound);
  if (found.length === 0) return [`no section has one of these words: ${words.join(', ')}`];
  return found.flatMap(({ section: { address, heading, text } }) => [
    `${address}: ${heading}`,
    `  ${text.replaceAll(/\s+/g, ' ').trim().slice(0, excerptLength)}`,
  ]);
}

/** A word in a heading counts more, and a section with all words more than one that repeats a few. */
function scoreOf({ heading, text }: Section, words: readonly string[]): number {
  const [inHeading, inText] = [heading.toLowerCase(), text.toLowerCase()];
  const matched = words.filter((word) => inHeading.includes(word) || inText.includes(word));
  const occurrences = matched.reduce((sum, word) => sum + Math.min(3, inText.split(word).length - 1), 0);
  return matched.length * 10 + words.filter((word) => inHeading.includes(word)).length * 5 + occurrences;
}

/** Returns a document, or the section with this fragment and the sections below it. @throws {CommandError} exit 4 */
export function readSection(address: string): string {
  const [path = '', fragment] = address.replace(/^\//, '').split('#');
  if (!documentPaths().includes(path)) {
    throw new CommandError(ExitCode.NotFound, `there is no document ${JSON.stringify(path)}: search_docs finds them`);
  }
  const text = readDocument(path);
  if (fragment === undefined) return text;
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && fragmentOf(line) === fragment);
  if (start === -1) throw new CommandError(ExitCode.NotFound, `${path} has no section #${JSON.stringify(fragment)}`);
  const depth = depthOf(lines[start]!);
  const end = lines.findIndex((line, at) => at > start && /^#+ /.test(line) && depthOf(line) <= depth);
  return lines.slice(start, end === -1 ? undefined : end).join('\n');
}

function sectionsOf(path: string): Section[] {
  const parts = readDocument(path).split(/^(?=#+ )/m);
  const headings: string[] = [];
  return parts.flatMap((part) => {
    const [head, ...lines] = part.split('\n');
    if (!/^#+ /.test(head!)) return [];
    headings.splice(depthOf(head!) - 1, Infinity, head!.replace(/^#+ /, ''));
    const address = depthOf(head!) === 1 ? path : `${path}#${fragmentOf(head!)}`;
    return [{ address, heading: headings.join(' › '), text: lines.join('\n') }];
  });
}

function depthOf(heading: string): number {
  return /^#+/.exec(heading)![0].length;
}

/** Returns the fragment that GitHub gives a heading. */
function fragmentOf(heading: string): string {
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
