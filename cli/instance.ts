import type { ClientConfig } from '../operations/command-config.js';
import { addressOf, apiClient, type ApiClient, type FindAddress } from './api-client.js';
import type { Context } from './context.js';
import { CommandError, ExitCode } from './exit-code.js';
import { checkGiven } from './find-instance.js';

/** The running pigeonpost that a command contacts. */
export interface Instance {
  /** Configuration at `--config`; undefined with `--url`, where there may be no file. */
  readonly config: ClientConfig | undefined;
  readonly address: FindAddress;
  readonly client: ApiClient;
  /** Names in the configuration; empty if it is unknown. */
  readonly workspaces: readonly string[];
}

/**
 * Returns the instance of the file at `--config`, or the one at `--url`. Sends nothing.
 * @throws {ConfigError} for an invalid file; {CommandError} for an invalid address
 */
export async function instanceOf(context: Context): Promise<Instance> {
  const { loadCommandConfig } = await import('../operations/command-config.js');
  const given = await givenAddress(context);
  if (given !== undefined) {
    let found: ReturnType<FindAddress> | undefined;
    const address: FindAddress = () => (found ??= checkGiven(given));
    return { config: undefined, address, client: apiClient(address), workspaces: [] };
  }
  const config = await loadCommandConfig(context.config);
  const address = addressOf(config);
  return { config, address, client: apiClient(address), workspaces: config.workspaces };
}

/** Returns the client of `instanceOf`. */
export async function clientOf(context: Context): Promise<ApiClient> {
  return (await instanceOf(context)).client;
}

/** Returns `--url` with the token of PIGEONPOST_TOKEN or `--token`, which other accounts of the machine can read. */
async function givenAddress({ url, token: given }: Context): Promise<{ url: string; token: string } | undefined> {
  const { tokenOfEnvironment } = await import('../operations/command-config.js');
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    throw new CommandError(ExitCode.WrongUse, '--url is not an address: give one such as http://127.0.0.1:8088');
  }
  const token = given ?? tokenOfEnvironment();
  if (token === '') {
    throw new CommandError(
      ExitCode.WrongUse,
      '--url needs a token of the pigeonpost at this address: set PIGEONPOST_TOKEN, or add --token TOKEN',
    );
  }
  return { url: url.replace(/\/+$/, ''), token };
}
