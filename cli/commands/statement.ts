import { Option } from 'commander';
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { type ApiClient, clientOf, instanceOf } from '../api-client.js';
import { type CliCommand, type Context, type JsonOption, parseFullPigeonhole } from '../command.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { unreadable, writeWholeFile } from '../files.js';
import { printResult } from '../output.js';
import { paint, shownText } from '../text-line.js';

interface StatementOptions extends JsonOption {
  readonly format?: 'html' | 'json' | 'csv';
  readonly out?: string;
  readonly last: boolean;
  readonly audit: boolean;
}

export function addStatement(program: CliCommand): void {
  const statement = program
    .command('statement [pigeonhole]')
    .description('Read every list of an event again, and state what each destination received of it')
    .addOption(
      new Option('--format <format>', 'signed page, signed JSON, or the differences as a table').choices([
        'html',
        'json',
        'csv',
      ]),
    )
    .option('--out <file>', 'write to this file instead of standard output')
    .option('--last', 'show the latest statement instead of making another', false)
    .option('--audit', 'first compare what the destinations hold with what was delivered', false)
    .json('the same as --format json')
    .examples(
      'statement 101',
      'statement 101 --audit --format html --out statement.html',
      'statement verify statement.json --key ed25519:…',
    )
    .runs(makeStatement);
  statement
    .command('verify <file>')
    .description('Check that nobody has altered a statement')
    .option('--key <key>', 'public key, or a file with it; by default, the key of the running pigeonpost')
    .json()
    .examples('statement verify statement.html --key ed25519:…')
    .runs(verifyStatement);
  statement
    .command('key')
    .description('Show the public key with which statements can be checked')
    .json()
    .examples('statement key')
    .runs(showKey);
}

/**
 * `pigeonpost statement <pigeonhole>`: makes a statement, or shows the latest one. Exit 0 if every item is accounted
 * for, 1 if something is open, 4 for an unknown pigeonhole.
 */
async function makeStatement(
  context: Context,
  pigeonhole: string | undefined,
  { format, out: file, last, audit, json }: StatementOptions,
): Promise<ExitCode> {
  if (pigeonhole === undefined) throw wrongUse('name an event: "pigeonpost statement 101", or "statement verify FILE"');
  if (last && audit) throw wrongUse('--last shows a statement that was made before, so it cannot audit: leave one out');
  const form = formOf(format ?? (json ? 'json' : undefined), file);
  const { address, client } = await instanceOf(context);
  const { workspaces } = await client.get('/api/status', {});
  const params = await parseFullPigeonhole(
    pigeonhole,
    workspaces.map(({ name }) => name),
  );
  const number = last
    ? await latest(client, params)
    : (await client.post('/api/pigeonholes/{workspace}/{id}/statements', { params, json: { audit } })).number;
  const { completedStatement, statementFileParts } = await import('../statement/fetch-statement.js');
  const signed = await completedStatement(client, number, (words) => context.out.note(words));
  const { out } = context;
  if (form !== null) {
    const parts = statementFileParts(address, number, form);
    if (file === undefined) out.draw(`${shownText((await textOf(parts)).replace(/\r?\n$/, ''), { colours: false })}\n`);
    else await writeWholeFile(file, parts);
  }
  const { formatStatement, formatSummary } = await import('../statement/format-statement.js');
  if (form === null) for (const line of formatStatement(signed, out)) out.line(line);
  else if (file !== undefined) {
    for (const line of formatSummary(signed, out)) out.line(line);
    out.line(`written to ${file}`);
  }
  return signed.statement.agrees ? ExitCode.Done : ExitCode.Failed;
}

type Form = NonNullable<StatementOptions['format']>;
const forms: readonly Form[] = ['html', 'json', 'csv'];

/** Returns the form of the output: the given one, or that of the file's name; null: a summary for people. */
function formOf(format: Form | undefined, file: string | undefined): Form | null {
  if (format !== undefined || file === undefined) return format ?? null;
  const found = forms.find((form) => file.endsWith(`.${form}`));
  if (found !== undefined) return found;
  throw wrongUse('--out needs a format: name the file .html, .json or .csv, or add --format');
}

async function latest(client: ApiClient, params: { workspace: string; id: string }): Promise<number> {
  const { statements } = await client.get('/api/pigeonholes/{workspace}/{id}/statements', { params });
  const found = statements.find(({ completedAt }) => completedAt !== null);
  if (found !== undefined) return found.number;
  throw new CommandError(
    ExitCode.NotFound,
    `there is no statement of pigeonhole ${params.workspace}/${params.id} yet: run the command without --last`,
  );
}

interface VerifyOptions extends JsonOption {
  readonly key?: string;
}

/**
 * `pigeonpost statement verify <file>`: checks the signature of a statement. Exit 0 if it is valid, 1 if the file was
 * altered or signed with another key, 2 if it is no statement.
 */
async function verifyStatement(context: Context, file: string, { key, json }: VerifyOptions): Promise<ExitCode> {
  const { PublicKey } = await import('../../base/ed25519.js');
  const { verifyFile } = await import('../../operations/statement/sign-statement.js');
  const text = await readFile(file, 'utf8').catch((error: unknown) => unreadable(file, error));
  const given =
    key === undefined ? (await (await clientOf(context)).get('/api/statement-key', {})).key : await keyText(key);
  const publicKey = PublicKey.parse(given);
  if (publicKey === undefined) {
    throw wrongUse('--key is not a public key: give the text that "pigeonpost statement key" shows, or a file with it');
  }
  const found = verifyFile(text, publicKey);
  const { out } = context;
  if (found.result === 'unreadable') throw wrongUse(`${file} is no statement of pigeonpost: ${found.why}`);
  if (json) {
    out.line(JSON.stringify({ valid: found.result === 'valid', why: found.result === 'valid' ? null : found.why }));
  } else if (found.result === 'valid') {
    out.line(
      paint(
        `valid: nobody has altered ${file} since it was signed with key ${publicKey.fingerprint}`,
        'green',
        out.colours,
      ),
    );
  } else {
    out.line(paint(`NOT VALID: ${found.why}`, 'red', out.colours));
  }
  return found.result === 'valid' ? ExitCode.Done : ExitCode.Failed;
}

/** Returns the text of a key that was given as such or as a file. */
async function keyText(given: string): Promise<string> {
  const { PublicKey } = await import('../../base/ed25519.js');
  if (PublicKey.parse(given) !== undefined) return given;
  return await readFile(given, 'utf8').catch(() => given);
}

/** `pigeonpost statement key`: shows the public key. */
async function showKey(context: Context, { json }: JsonOption): Promise<ExitCode> {
  const found = await (await clientOf(context)).get('/api/statement-key', {});
  return printResult(context.out, json, found, [found.key, `fingerprint ${found.fingerprint}`]);
}
