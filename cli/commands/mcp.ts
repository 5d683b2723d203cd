import { instanceOf } from '../api-client.js';
import { type CliCommand, type Context, operatorName } from '../command.js';
import { ExitCode } from '../exit-code.js';
import type { Allowed, ToolContext } from '../mcp/tools.js';

export function addMcp(program: CliCommand): void {
  program
    .command('mcp')
    .description('Let an AI assistant on this machine ask the running pigeonpost, by the Model Context Protocol')
    .option('--allow-actions', 'also let it pause, resume and send dead letters again', false)
    .option(
      '--personal',
      'also let it see people and what they wrote; needs the role privacy or admin, and is audited',
      false,
    )
    .examples('mcp', '--url http://127.0.0.1:8088 mcp')
    .runs(mcp);
}

interface McpOptions {
  readonly allowActions: boolean;
  readonly personal: boolean;
}

/**
 * `pigeonpost mcp`: serves tools on standard input and output until the assistant closes them. Finds the running
 * pigeonpost when a tool first needs it, and again after a failure, so that it may start later. Exit 0.
 */
async function mcp(context: Context, { allowActions, personal }: McpOptions): Promise<ExitCode> {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  const { createMcpServer } = await import('../mcp/serve.js');
  const allowed: Allowed = { actions: allowActions, personal };
  const ended = new Promise<void>((resolve) => void process.stdin.once('close', resolve).once('end', resolve));
  let known: Promise<ToolContext> | undefined;
  const instance = { found: () => (known ??= toolContext(context)), forget: () => (known = undefined) };
  const handle = serveStdio(() => createMcpServer(allowed, instance), {
    onerror: ({ message }) => context.out.note(`pigeonpost: ${message}`),
  });
  await ended;
  await handle.close();
  return ExitCode.Done;
}

async function toolContext(context: Context): Promise<ToolContext> {
  const { config, address, client } = await instanceOf(context);
  const page = async () => `${(config?.server.publicUrl ?? (await address()).url).replace(/\/$/, '')}/`;
  return { client, page, by: `${operatorName() ?? 'a person'} (assistant)` };
}
