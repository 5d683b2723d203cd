import { formatDistance } from '../../base/words.js';
import { InvalidArgumentError } from 'commander';
import { type CliCommand, exampleText, type Context, confirm, type JsonOption, wholeNumber } from '../command.js';
import type { TokenView } from '../../api/tokens.js';
import { clientOf, instanceOf, firstOfList } from '../api-client.js';
import { printResult, printList } from '../output.js';
import { ExitCode, wrongUse } from '../exit-code.js';
import type { AuditEntryView } from '../../api/audit-log.js';

/** The roles that `api/authenticate.ts` knows. */
export const roles = ['viewer', 'importer', 'operator', 'privacy', 'admin'] as const;

const rolesHelp = `
Each role may see the status, and:
  viewer     nothing else
  importer   import registrants
  operator   pause, resume, redrive, replay, deletions
  privacy    see names and texts; forget a person
  admin      everything; configuration, tokens, audit log
${exampleText('token create page --role viewer --role privacy --expires 90d')}`;

export function addToken(program: CliCommand): void {
  const token = program.command('token').description('Create, list and revoke named tokens of the API');
  token
    .command('create <name>')
    .description('Create a token and print it once')
    .requiredOption('--role <role>', `${roles.join(', ')}; may be repeated`, addRole)
    .requiredOption('--expires <days>', 'lifetime in days such as 90d, or never')
    .option('--workspace <name>', 'only workspace that the token can see')
    .json()
    .addHelpText('after', rolesHelp)
    .runs(createToken);
  token.command('list').description('List tokens that are not revoked').json().examples('token list').runs(listTokens);
  token
    .command('revoke <name>')
    .description('Revoke a token')
    .option('--yes', 'skip the confirmation', false)
    .json()
    .examples('token revoke page')
    .runs(revokeToken);
}

function addRole(role: string, before: readonly Role[] = []): Role[] {
  if (isRole(role)) return [...before, role];
  throw new InvalidArgumentError(`give one of ${roles.join(', ')}`);
}

type Role = (typeof roles)[number];

function isRole(word: string): word is Role {
  return (roles as readonly string[]).includes(word);
}

interface NewTokenOptions extends JsonOption {
  readonly role: Role[];
  readonly workspace?: string | null;
  /** A number of days such as `90d`, or `never`. */
  readonly expires: string;
}

/**
 * `pigeonpost token create <name>`: prints only the token on standard output, to pipe it into a secret store. It cannot
 * be shown again. Exit 0, 1 if a token with this name exists.
 */
async function createToken(
  context: Context,
  name: string,
  { role, workspace = null, expires, json }: NewTokenOptions,
): Promise<ExitCode> {
  const { out } = context;
  const asked = { name, roles: role, workspace, expiresInDays: daysOf(expires) };
  const made = await (await clientOf(context)).post('/api/tokens', { json: asked });
  const until =
    made.expiresAt === null ? 'never expires' : `expires ${formatDistance(new Date(made.expiresAt), new Date())}`;
  if (!json) out.note(`token ${made.name} (${made.roles.join(', ')}), ${until}; it is shown only once:`);
  return printResult(out, json, made, made.token);
}

/** `pigeonpost token list`: lists tokens that are not revoked. Exit 0, also if there are none. */
async function listTokens(context: Context, { json }: JsonOption): Promise<ExitCode> {
  const { tokens } = await (await clientOf(context)).get('/api/tokens', {});
  const lines = tokens.map((token) => tokenLine(token, new Date()));
  return printResult(context.out, json, { tokens }, lines.length === 0 ? 'no named tokens' : lines);
}

/**
 * `pigeonpost token revoke <name>`: the API refuses the token from now on. Exit 0, 1 if declined, 4 if there is no such
 * token.
 */
async function revokeToken(
  context: Context,
  name: string,
  { yes, json }: JsonOption & { readonly yes: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const question = `Revoke token ${name}? The API refuses it immediately.`;
  if (!yes && !(await confirm(out, question, 'nothing was revoked'))) return ExitCode.Failed;
  await (await clientOf(context)).post('/api/tokens/{name}/revoke', { params: { name }, json: {} });
  return printResult(out, json, { done: true, name }, `token ${name} is revoked`);
}

function daysOf(text: string): number | null {
  if (text === 'never') return null;
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  if (days !== undefined && Number(days) >= 1 && Number(days) <= 3650) return Number(days);
  throw wrongUse(`--expires is "${text}": give a number of days such as 90d, or never`);
}

function tokenLine({ name, roles, workspace, expiresAt, lastUsedAt }: TokenView, now: Date): string {
  const ends =
    expiresAt === null
      ? 'never expires'
      : `${new Date(expiresAt) < now ? 'expired' : 'expires'} ${formatDistance(new Date(expiresAt), now)}`;
  const used = lastUsedAt === null ? 'never used' : `used ${formatDistance(new Date(lastUsedAt), now)}`;
  return [name, roles.join(', '), ...(workspace === null ? [] : [`only workspace ${workspace}`]), ends, used].join(
    '  ',
  );
}

export function addOpen(program: CliCommand): void {
  program
    .command('open')
    .description('Print a link that signs one browser in to the page, once, within ten minutes')
    .json()
    .examples('open')
    .runs(open);
}

/** `pigeonpost open`: prints a link that signs one browser in to the page. Exit 0, 3 when no pigeonpost answers. */
async function open(context: Context, { json }: JsonOption): Promise<ExitCode> {
  const { out } = context;
  const { address, client, config } = await instanceOf(context);
  const made = await client.post('/api/page-codes', { json: {} });
  const link = pageLink(config?.server.publicUrl ?? (await address()).url, made);
  printResult(out, json, { link, expiresAt: made.expiresAt }, link);
  if (!json) out.note('Open this link in a browser within ten minutes. It works once.');
  return ExitCode.Done;
}

/**
 * Returns the page's address with a code that signs one browser in. Uses loopback for a server that listens on all
 * addresses.
 */
export function pageLink(baseUrl: string, { code }: { readonly code: string }): string {
  const link = new URL(`${baseUrl.replace(/\/$/, '')}/?code=${code}`);
  if (link.hostname === '0.0.0.0') link.hostname = '127.0.0.1';
  if (link.hostname === '[::]') link.hostname = '[::1]';
  return link.href;
}

export function addAuditLog(program: CliCommand): void {
  program
    .command('audit-log')
    .description('Show who requested what, and the result, newest first')
    .option('--who <name>', "only this caller: a token's name, server.token or local")
    .option('--action <name>', 'only this action, such as pause, redrive-dead-letters or show-personal')
    .option('--target <name>', 'only this target, such as sink:hooks or pigeonhole:acme/101')
    .option('--from <instant>', 'only requests at this instant or later, such as 2026-11-21T09:00:00Z')
    .option('--until <instant>', 'only requests before this instant')
    .option('--limit <n>', 'number of entries', wholeNumber(100_000), 100)
    .json()
    .examples('audit-log --action show-personal --limit 20')
    .runs(auditLog);
}

interface AuditArguments extends JsonOption {
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly limit: number;
}

/** `pigeonpost audit-log`: lists audited requests, newest first. Exit 0, also if there are none. */
export async function auditLog(context: Context, choice: AuditArguments): Promise<ExitCode> {
  const { who, action, target, from, until, limit, json } = choice;
  const client = await clientOf(context);
  const found = await firstOfList(limit, (part) =>
    client.get('/api/audit', { query: { who, action, target, from, until, ...part } }),
  );
  const lines = found.items.map(entryLine);
  return printList(context.out, json, found, lines.length === 0 ? 'no audited requests' : lines);
}

function entryLine({ at, who, action, target, outcome, status, detail }: AuditEntryView): string {
  // A test message that was not delivered is `failed`, although its request succeeded.
  const isRefused = status !== null && status >= 400;
  const ended = outcome === null ? 'result unknown' : isRefused ? `${outcome} (${status})` : outcome;
  const facts = Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`);
  return [at, who, action, ...(target === null ? [] : [target]), ended, ...facts].join('  ');
}
