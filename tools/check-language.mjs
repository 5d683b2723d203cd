#!/usr/bin/env node
// Finds wording that the project's language rules replace: in documents, comments, messages and names.
//
//   node tools/check-language.mjs              check everything, exit 1 on a finding
//   node tools/check-language.mjs docs sinks   check these folders or files only
//   node tools/check-language.mjs --count      print the number of findings by folder
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** Where a pattern applies. `prose` is documents, comments and messages together. */
const rules = [
  [
    'doc-start',
    /^(?:What|Who|Whoever|Of|How|Where|When|Which|Whose|As many|So many|Every one)\b/,
    'start with a verb phrase or a noun phrase',
  ],
  [
    'prose',
    /\bso (?:many|often|long) (?:is|are|was|were|a|that are|of)\b/i,
    'give the number: N, the number of, the interval',
  ],
  ['prose', /\b(?:stands|stood|standing) (?:in|at|for|there|still)\b/i, 'is in, is at'],
  ['prose', /\b(?:goes|go|went|going) on(?! (?:to|a|the))\b/i, 'continues'],
  ['prose', /\banew\b/i, 'again'],
  ['prose', /\bby itself\b/i, 'automatically'],
  ['prose', /\b(?:is|are|was|were|be|being) no more\b/i, 'no longer'],
  ['prose', /\bmend(?:s|ed|ing)?\b|\bput(?:s|ting)? right\b/i, 'fix, repair'],
  ['prose', /\b(?:is|are|was|were|be|been|being) told(?: of)?\b/i, 'notified, reported'],
  ['prose', /\b(?:is|are|was) made (?:out )?of\b|\bmakes? of it\b|\bmade of it\b/i, 'produces, converts it into'],
  ['prose', /\bgone at the (?:service|source)\b/i, 'deleted in the service'],
  ['prose', /\b(?:begun|began)\b/i, 'start'],
  ['prose', /\bunder way\b/i, 'in progress'],
  ['prose', /\bwhose turn\b|\btak(?:es?|ing) turns\b/i, 'runs one cycle'],
  ['prose', /\b(?:gives?|gave|given|giving) back\b/i, 'returns'],
  ['prose', /\bsomebody\b|\bwhoever\b/i, 'say who: the service, the operator, the worker'],
  ['prose', /\blook(?:s|ed|ing)? (?:at|after)\b/i, 'checks, inspects'],
  ['prose', /\bbut for\b/i, 'except, without'],
  ['prose', /\b(?:came|comes?) (?:by|in|from it|again|back|with it)\b/i, 'arrives, returns'],
  ['prose', /\bwished? for\b|\bhas its say\b|\bof its own accord\b/i, 'name the action'],
  ['prose', /\bas (?:many|often|much) as (?:there|it|is|are)\b/i, 'give the number'],
  ['prose', /\bheld? (?:good|true)\b/i, 'applies, is true'],
  ['prose', /\b(?:he|she) who\b/i, 'name the people'],
  ['name', /\b(?:most|least)[A-Z]\w*/, 'max…, min…'],
  [
    'name',
    /\b(?:interface|type|class) (?:\w*(?:Standing|Journey|Calm|Manners)|Way|Place)\b/,
    'the field’s term: Strategy, StreamKey, LaneStatus',
  ],
];

/** Findings that are right as they are: [file, text on the line, reason]. */
const exceptions = [['tools/check-language.mjs', '', 'holds the patterns']];

const { values, positionals } = parseArgs({ options: { count: { type: 'boolean' } }, allowPositionals: true });
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...(positionals.length > 0 ? positionals : ['.'])],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter(
    (file) => /\.(?:ts|tsx|mjs|cjs|js|md|yaml|yml|sql|html)$/.test(file) && !/^(?:dist|node_modules)\//.test(file),
  );

const findings = [];
for (const file of files) {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    continue;
  }
  const code = /\.(?:ts|tsx|mjs|cjs|js)$/.test(file);
  for (const { kind, line, value } of code ? partsOfCode(text) : partsOfDocument(text)) {
    for (const [scope, pattern, advice] of rules) {
      if (scope === 'doc-start' ? kind !== 'docblock' : scope === 'name' ? kind !== 'name' : kind === 'name') continue;
      const found = pattern.exec(value);
      if (found === null) continue;
      const at = line + value.slice(0, found.index).split('\n').length - 1;
      const whole = text.split('\n')[at - 1] ?? '';
      if (exceptions.some(([path, part]) => path === file && whole.includes(part))) continue;
      findings.push({ file, at, found: found[0], advice });
    }
  }
}

if (values.count) {
  const byFolder = Map.groupBy ? Map.groupBy(findings, folderOf) : groupBy(findings, folderOf);
  for (const [folder, list] of [...byFolder].sort((a, b) => b[1].length - a[1].length))
    console.log(`${String(list.length).padStart(6)} ${folder}`);
} else {
  for (const { file, at, found, advice } of findings) console.log(`${file}:${at}: "${found}" → ${advice}`);
}
console.log(
  findings.length === 0
    ? 'No wording to replace.'
    : `${findings.length} findings in ${new Set(findings.map(({ file }) => file)).size} files.`,
);
process.exitCode = findings.length === 0 ? 0 : 1;

/** Returns the comments, the messages (strings of three words and more) and the code lines of a source file. */
function* partsOfCode(text) {
  const token = /\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  for (const match of text.matchAll(token)) {
    const line = text.slice(0, match.index).split('\n').length;
    if (match[0].startsWith('/')) {
      const value = match[0].replace(/^\/\*\*?|\*\/$|^\/\//g, '').replace(/^[ \t]*\* ?/gm, '');
      yield { kind: match[0].startsWith('/**') ? 'docblock' : 'comment', line, value: value.replace(/^ +/, '') };
    } else if (
      (match[0].match(/ /g) ?? []).length >= 2 &&
      !/\b(?:select|insert into|update|delete from|create) /i.test(match[0])
    ) {
      yield { kind: 'message', line, value: match[0] };
    }
  }
  const bare = text.replace(token, (found) => found.replace(/[^\n]/g, ' '));
  let line = 0;
  for (const value of bare.split('\n')) {
    line += 1;
    if (value.trim() !== '') yield { kind: 'name', line, value };
  }
}

/** Returns the lines of a document outside its code blocks. */
function* partsOfDocument(text) {
  let inCode = false;
  let line = 0;
  for (const value of text.split('\n')) {
    line += 1;
    if (value.startsWith('```')) inCode = !inCode;
    else if (!inCode)
      yield { kind: 'document', line, value: value.replace(/`[^`]*`/g, (code) => '`'.repeat(code.length)) };
  }
}

function folderOf({ file }) {
  const [first, second] = file.split('/');
  return first === 'sinks' || first === 'test' || first === 'docs' ? `${first}/${second}` : first;
}

function groupBy(list, keyOf) {
  const groups = new Map();
  for (const item of list) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
