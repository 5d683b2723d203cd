import { formatDistance } from '../../base/words.js';
import { type Command, InvalidArgumentError } from 'commander';
import { exampleText, type Run, type Context, confirm } from '../command.js';
import type { TokenView } from '../../api/tokens.js';
import { type ApiClient, clientOf } from '../api-client.js';
import { CommandError, ExitCode } from '../exit-code.js';

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

export function addToken(program: Command, run: Run): void {
  const token = program.command('token').description('Create, list and revoke named tokens of the API');
  token
    .command('create <name>')
    .description('Create a token and print it once')
    .requiredOption('--role <role>', `${roles.join(', ')}; may be repeated`, addRole)
    .requiredOption('--expires <days>', 'lifetime in days such as 90d, or never')
    .option('--workspace <name>', 'only workspace that the token can see')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', rolesHelp)
    .action((name: string, options: Omit<NewTokenArguments, 'name'>) =>
      run((context) => createToken(context, { name, ...options })),
    );
  token
    .command('list')
    .description('List tokens that are not revoked')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('token list'))
    .action((options: { json: boolean }) => run((context) => listTokens(context, options)));
  token
    .command('revoke <name>')
    .description('Revoke a token')
    .option('--yes', 'skip the confirmation', false)
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('token revoke page'))
    .action((name: string, options: { yes: boolean; json: boolean }) =>
      run((context) => revokeToken(context, { name, ...options })),
    );
}

function addRole(role: string, before: string[] = []): string[] {
  if ((roles as readonly string[]).includes(role)) return [...before, role];
  throw new InvalidArgumentError(`give one of ${roles.join(', ')}`);
}

interface NewTokenArguments {
  readonly name: string;
  readonly role: readonly string[];
  readonly workspace?: string | undefined;
  /** A number of days such as `90d`, or `never`. */
  readonly expires: string;
  readonly json: boolean;
}

/**
 * `pigeonpost token create <name>`: prints only the token on standard output, to pipe it into a secret store. It cannot
 * be shown again. Exit 0, 1 if a token with this name exists.
 */
async function createToken(context: Context, asked: NewTokenArguments): Promise<ExitCode> {
  const { out } = context;
  const expiresInDays = daysOf(asked.expires);
  const client = await clientOf(context);
  const made = await client.createToken({
    name: asked.name,
    roles: asked.role as TokenRole[],
    workspace: asked.workspace ?? null,
    expiresInDays,
  });
  if (asked.json) {
    out.line(JSON.stringify(made));
    return ExitCode.Done;
  }
  const until =
    made.expiresAt === null ? 'never expires' : `expires ${formatDistance(new Date(made.expiresAt), new Date())}`;
  out.note(`token ${made.name} (${made.roles.join(', ')}), ${until}; it is shown only once:`);
  out.line(made.token);
  return ExitCode.Done;
}

type TokenRole = Parameters<ApiClient['createToken']>[0]['roles'][number];

/** `pigeonpost token list`: lists tokens that are not revoked. Exit 0, also if there are none. */
async function listTokens(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const { tokens } = await (await clientOf(context)).tokens();
  if (json) out.line(JSON.stringify({ tokens }));
  else if (tokens.length === 0) out.line('no named tokens');
  else for (const token of tokens) out.line(lineOf(token, new Date()));
  return ExitCode.Done;
}

/**
 * `pigeonpost token revoke <name>`: the API refuses the token from now on. Exit 0, 1 if declined, 4 if there is no such
 * token.
 */
async function revokeToken(
  context: Context,
  { name, yes, json }: { name: string; yes: boolean; json: boolean },
): Promise<ExitCode> {
  const { out } = context;
  if (!yes) {
    if (!(await confirm(`Revoke token ${name}? The API refuses it immediately.`))) {
      out.note('nothing was revoked');
      return ExitCode.Failed;
    }
  }
  await (await clientOf(context)).revokeToken(name);
  out.line(json ? JSON.stringify({ done: true, name }) : `token ${name} is revoked`);
  return ExitCode.Done;
}

function daysOf(text: string): number | null {
  if (text === 'never') return null;
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  if (days !== undefined && Number(days) >= 1 && Number(days) <= 3650) return Number(days);
  throw new CommandError(ExitCode.WrongUse, `--expires is "${text}": give a number of days such as 90d, or never`);
}

function lineOf({ name, roles, workspace, expiresAt, lastUsedAt }: TokenView, now: Date): string {
  const ends =
    expiresAt === null
      ? 'never expires'
      : `${new Date(expiresAt) < now ? 'expired' : 'expires'} ${formatDistance(new Date(expiresAt), now)}`;
  const used = lastUsedAt === null ? 'never used' : `used ${formatDistance(new Date(lastUsedAt), now)}`;
  return [name, roles.join(', '), ...(workspace === null ? [] : [`only workspace ${workspace}`]), ends, used].join(
    '  ',
  );
}
