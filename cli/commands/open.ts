import type { Command } from 'commander';
import { exampleText, type Run, type Context } from '../command.js';
import { ExitCode } from '../exit-code.js';
import { instanceOf } from '../api-client.js';

export function addOpen(program: Command, run: Run): void {
  program
    .command('open')
    .description('Print a link that signs one browser in to the page, once, within ten minutes')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('open'))
    .action((options: { json: boolean }) => run((context) => open(context, options)));
}

/** `pigeonpost open`: prints a link that signs one browser in to the page. Exit 0, 3 when no pigeonpost answers. */
async function open(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const { address, client, config } = await instanceOf(context);
  const made = await client.createPageCode();
  const link = pageLink(config?.server.publicUrl ?? (await address()).url, made);
  if (json) out.line(JSON.stringify({ link, expiresAt: made.expiresAt }));
  else {
    out.line(link);
    out.note('Open this link in a browser within ten minutes. It works once.');
  }
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
