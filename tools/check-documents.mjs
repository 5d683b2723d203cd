#!/usr/bin/env node
// Checks what a reader of the Markdown files sees: that the rows of each table have its columns, and that each link
// leads to an existing file and heading.
//
//   node tools/check-documents.mjs              check everything, exit 1 on a finding
//   node tools/check-documents.mjs docs         check these folders or files only
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
});
if (values.help) {
  console.log('usage: node tools/check-documents.mjs [FOLDER OR FILE]… [--help]');
  process.exit(0);
}
const findings = listFiles(positionals).flatMap((file) => {
  const lines = linesOf(file);
  return [...findUnevenRows(lines), ...findBrokenLinks(file, lines)].map(
    ({ line, found }) => `${file}:${line}: ${found}`,
  );
});
for (const finding of findings) console.log(finding);
console.log(findings.length === 0 ? 'All tables and links are correct.' : `${findings.length} findings.`);
process.exitCode = findings.length === 0 ? 0 : 1;

/** Lists tracked and new Markdown files below the given paths, or below the current folder. */
function listFiles(paths) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...(paths.length > 0 ? paths : ['.'])];
  const files = execFileSync('git', args, { encoding: 'utf8' }).split('\n');
  return [...new Set(files)].filter((file) => file.endsWith('.md') && existsSync(file));
}

/** Returns the lines of a document; a line inside a code block is empty, so that line numbers stay. */
function linesOf(file) {
  let fence;
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => {
      const mark = /^ *(```+|~~~+)/.exec(line)?.[1];
      const isCode = fence !== undefined || mark !== undefined;
      if (fence === undefined) fence = mark;
      else if (mark?.startsWith(fence)) fence = undefined;
      return isCode ? '' : line;
    });
}

/** GitHub drops the cells beyond the header's columns, so a row with another number of cells loses text. */
function findUnevenRows(lines) {
  const found = [];
  let columns;
  for (const [index, line] of lines.entries()) {
    if (!/^ *\|/.test(line)) columns = undefined;
    else if (columns === undefined) {
      columns = cellsOf(line);
      const rule = lines[index + 1] ?? '';
      if (!/^ *\|(?: *:?-+:? *\|)+ *$/.test(rule)) found.push({ line: index + 1, found: 'a table without a rule' });
    } else if (cellsOf(line) !== columns) {
      found.push({ line: index + 1, found: `a row of ${cellsOf(line)} cells in a table of ${columns} columns` });
    }
  }
  return found;
}

/** Counts cells as GitHub does: a vertical bar separates cells, also inside code, unless a backslash precedes it. */
function cellsOf(line) {
  return line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/).length;
}

function findBrokenLinks(file, lines) {
  return lines.flatMap((text, index) =>
    [...text.replace(/`[^`]*`/g, '').matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)]
      .map(([, link]) => link)
      .filter((link) => isBroken(file, link))
      .map((link) => ({ line: index + 1, found: `a link to ${link}, which does not exist` })),
  );
}

function isBroken(file, link) {
  const [path, anchor] = link.split('#');
  const target = path === '' ? file : relative('.', join(dirname(file), path));
  if (!existsSync(target)) return true;
  return anchor !== undefined && !anchorsOf(linesOf(target)).has(anchor);
}

/** Returns the anchors of headings as GitHub generates them; the second heading of the same text gets the suffix -1. */
function anchorsOf(lines) {
  const anchors = new Set();
  for (const line of lines) {
    const heading = /^#+ (.+)$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let suffix = 0;
    while (anchors.has(suffix === 0 ? anchor : `${anchor}-${suffix}`)) suffix += 1;
    anchors.add(suffix === 0 ? anchor : `${anchor}-${suffix}`);
  }
  return anchors;
}
