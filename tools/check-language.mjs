#!/usr/bin/env node
// Finds wording that the project's language rules replace: in documents, comments, messages and names.
//
//   node tools/check-language.mjs              check everything, exit 1 on a finding
//   node tools/check-language.mjs docs sinks   check these folders or files only
//   node tools/check-language.mjs --count      print the number of findings by folder
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** Wording in prose (documents, comments and messages): a pattern, and what to write instead. */
const proseRules = [
  [/\bso (?:many|often|long) (?:is|are|was|were|a|that are|of)\b/i, 'give the number: N, the number of, the interval'],
  [/\bas (?:many|often|much) as (?:there|it|is|are)\b/i, 'give the number'],
  [/\b(?:stands|stood|standing) (?:in|at|for|there|still)\b/i, 'is in, is at'],
  [/\b(?:goes|go|went|going) on(?! (?:to|a|the))\b/i, 'continues'],
  [/\banew\b/i, 'again'],
  [/\bby itself\b/i, 'automatically'],
  [/\bof its own accord\b/i, 'automatically'],
  [/\b(?:is|are|was|were|be|being) no more\b/i, 'no longer'],
  [/\bmend(?:s|ed|ing)?\b|\bput(?:s|ting)? right\b/i, 'fix, repair'],
  [/\b(?:is|are|was|were|be|been|being) told(?: of)?\b/i, 'is notified, receives, is configured'],
  [/\b(?:is|are|was) made (?:out )?of\b|\bmakes? of it\b|\bmade of it\b/i, 'produces, converts it into'],
  [/\bgone at the (?:service|source)\b/i, 'deleted in the service'],
  [/\b(?:begun|began)\b/i, 'started'],
  [/\bunder way\b/i, 'in progress'],
  [/\bwhose turn\b|\btak(?:es?|ing) turns\b/i, 'runs one cycle'],
  [/\b(?:gives?|gave|given|giving) back\b/i, 'returns'],
  [/\bsomebody\b|\bwhoever\b/i, 'say who: the service, the operator, the worker'],
  [/\b(?:he|she) who\b/i, 'name the people'],
  [/\blook(?:s|ed|ing)? (?:at|after)\b/i, 'checks, inspects'],
  [/\bbut for\b/i, 'except, without'],
  [/\b(?:came|comes?) (?:by|in|from it|again|back|with it)\b/i, 'arrives, returns'],
  [/\bwished? for\b|\bhas its say\b/i, 'name the action'],
  [/\bheld? (?:good|true)\b/i, 'applies, is true'],
];

/** Wording in names of types, functions and variables. */
const nameRules = [
  [/\b(?:most|least)[A-Z]\w*/, 'max…, min…'],
  [
    /\b(?:interface|type|class) (?:\w*(?:Standing|Journey|Calm|Manners)|Way|Place)\b/,
    'the field’s term: Strategy, StreamKey, LaneStatus',
  ],
];

const docblockRules = [
  [
    /^(?:What|Who|Whoever|Of|How|Where|When|Which|Whose|As many|So many|Every one)\b/,
    'start with a verb phrase or a noun phrase',
  ],
];

/** Rules by the kind of a part. A name has no grammar, so the rules of prose do not apply to it. */
const rulesOf = {
  document: proseRules,
  comment: proseRules,
  message: proseRules,
  docblock: [...docblockRules, ...proseRules],
  name: nameRules,
};

/** Findings that are right: [start of the path, text on the line, reason]. */
const exceptions = [
  ['tools/check-language.mjs', '', 'contains the patterns'],
  ['ledger/migrations/0001_the_ledger.sql', 'begun  ', 'the name of a column'],
];

const checked = /\.(?:ts|tsx|mjs|cjs|js|md|yaml|yml|sql|html)$/;
const code = /\.(?:ts|tsx|mjs|cjs|js)$/;

const options = { count: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
if (values.help) {
  console.log('usage: node tools/check-language.mjs [--count] [FOLDER OR FILE]… [--help]');
  process.exit(0);
}
const findings = listFiles(positionals).flatMap(findingsIn);
if (values.count) printCounts();
else for (const { file, line, found, advice } of findings) console.log(`${file}:${line}: "${found}" → ${advice}`);
console.log(
  findings.length === 0
    ? 'No wording to replace.'
    : `${findings.length} findings in ${new Set(findings.map(({ file }) => file)).size} files.`,
);
process.exitCode = findings.length === 0 ? 0 : 1;

/** Lists tracked and new files below the given paths, or below the current folder. */
function listFiles(paths) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...(paths.length > 0 ? paths : ['.'])];
  const files = execFileSync('git', args, { encoding: 'utf8' }).split('\n');
  return [...new Set(files)].filter((file) => checked.test(file));
}

function findingsIn(file) {
  const text = readIfPresent(file);
  const lines = text.split('\n');
  const found = [];
  for (const { kind, line, value } of code.test(file) ? partsOfCode(text) : partsOfDocument(text)) {
    for (const [pattern, advice] of rulesOf[kind]) {
      const match = pattern.exec(value);
      if (match === null) continue;
      const at = line + value.slice(0, match.index).split('\n').length - 1;
      if (!isException(file, lines[at - 1] ?? '')) found.push({ file, line: at, found: match[0], advice });
    }
  }
  return found;
}

/** Returns an empty text for a file that was deleted but is still in git's index. */
function readIfPresent(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

function isException(file, line) {
  return exceptions.some(([path, part]) => file.startsWith(path) && line.includes(part));
}

/** Yields comments, messages (strings of at least three words that are not SQL) and the remaining lines of code. */
function* partsOfCode(text) {
  const token = /\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  const statement = /\b(?:select|insert into|update|delete from|create) /i;
  let line = 1;
  let end = 0;
  for (const match of text.matchAll(token)) {
    line += countLines(text.slice(end, match.index));
    end = match.index;
    const [part] = match;
    if (part.startsWith('/')) {
      const value = part.replace(/^\/\*\*?|\*\/$|^\/\//g, '').replace(/^[ \t]*\* ?/gm, '');
      yield { kind: part.startsWith('/**') ? 'docblock' : 'comment', line, value: value.replace(/^ +/, '') };
    } else if (part.split(' ').length > 2 && !statement.test(part)) {
      yield { kind: 'message', line, value: part };
    }
  }
  const names = text.replace(token, (part) => part.replace(/[^\n]/g, ' '));
  yield* names.split('\n').map((value, index) => ({ kind: 'name', line: index + 1, value }));
}

/** Yields the lines of a document outside its code blocks, with inline code blanked. */
function* partsOfDocument(text) {
  let inCode = false;
  for (const [index, value] of text.split('\n').entries()) {
    if (/^ *```/.test(value)) inCode = !inCode;
    else if (!inCode) yield { kind: 'document', line: index + 1, value: value.replace(/`[^`]*`/g, '``') };
  }
}

function countLines(text) {
  return text.split('\n').length - 1;
}

function printCounts() {
  const counts = new Map();
  for (const { file } of findings) {
    const [first, second] = file.split('/');
    const folder = ['sinks', 'test', 'docs'].includes(first) ? `${first}/${second}` : first;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of [...counts].sort((a, b) => b[1] - a[1]))
    console.log(`${String(count).padStart(6)} ${folder}`);
}
