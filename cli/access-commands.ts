import { type Command, InvalidArgumentError } from 'commander';
import type { Context } from './context.js';
import { exampleText } from './example-text.js';
import type { ExitCode } from './exit-code.js';
import { roles } from './roles.js';
import { wholeNumber } from './whole-number.js';

const rolesHelp = `
Roles; each may see how work stands, and:
  viewer     nothing more
  importer   import registrants
  operator   pause, resume, redrive, replay, deletions
  privacy    see names and texts; have a person forgotten
  admin      all, and configuration, tokens, the audit log
${exampleText('token create page --role viewer --role privacy --expires 90d')}`;

/** Who may ask a running pigeonpost, and who has. Each is loaded when it is asked for. */
export function addAccessCommands(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  program
    .command('open')
    .description('print a link that signs a browser in to the page; it works once, within ten minutes')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('open'))
    .action(async (options: { json: boolean }) => {
      const { open } = await import('./commands/open.js');
      finish(await open(context(), options));
    });
  const token = program.command('token').description('named tokens of the API, with roles and an end');
  token
    .command('create <name>')
    .description('make one; it is shown this once')
    .requiredOption('--role <role>', `one of ${roles.join(', ')}; may be repeated`, addRole)
    .requiredOption('--expires <days>', 'a number of days such as 90d, or never')
    .option('--workspace <name>', 'of which alone its holder may know')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', rolesHelp)
    .action(async (name: string, options: { role: string[]; expires: string; workspace?: string; json: boolean }) => {
      const { createToken } = await import('./commands/tokens.js');
      finish(await createToken(context(), { name, ...options }));
    });
  token
    .command('list')
    .description('those that were not revoked')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('token list'))
    .action(async (options: { json: boolean }) => {
      const { listTokens } = await import('./commands/tokens.js');
      finish(await listTokens(context(), options));
    });
  token
    .command('revoke <name>')
    .description('refuse one from now on')
    .option('--yes', 'do not ask', false)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('token revoke page'))
    .action(async (name: string, options: { yes: boolean; json: boolean }) => {
      const { revokeToken } = await import('./commands/tokens.js');
      finish(await revokeToken(context(), { name, ...options }));
    });
  program
    .command('audit')
    .description('who has asked for what, and how it ended; newest first')
    .option('--who <name>', "a token's name, server.token, or local")
    .option('--action <name>', 'such as pause, redrive-dead-letters or show-personal')
    .option('--target <name>', 'such as sink:hooks or pigeonhole:acme/101')
    .option('--limit <n>', 'so many', wholeNumber(100_000), 100)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('audit --action show-personal --limit 20'))
    .action(async (options: { who?: string; action?: string; target?: string; limit: number; json: boolean }) => {
      const { audit } = await import('./commands/audit.js');
      finish(await audit(context(), options));
    });
}

function addRole(role: string, before: string[] = []): string[] {
  if ((roles as readonly string[]).includes(role)) return [...before, role];
  throw new InvalidArgumentError(`write one of ${roles.join(', ')}`);
}
