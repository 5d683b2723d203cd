import type { ClientConfig } from '../operations/load-process-config.js';
import { addressOf, apiClient, type ApiClient, type FindAddress } from './api-client.js';
import type { Context } from './context.js';
import { CommandError, ExitCode } from './exit-code.js';
import { checkGiven } from './find-instance.js';

/** The running pigeonpost that a command is about. */
export interface Instance {
  /** Configuration at `--config`; undefined where `--url` names another instance and there may be no file. */
  readonly config: ClientConfig | undefined;
  readonly address: FindAddress;
  readonly client: ApiClient;
  /** Names in the configuration; none where it is not known. */
  readonly workspaces: readonly string[];
}

/**
 * The instance of the file at `--config`, or the one at `--url`. Sends nothing yet.
 * @throws {ConfigError} for a file that cannot be used; {CommandError} for an address that cannot be used
 */
export async function instanceOf(context: Context): Promise<Instance> {
  const { loadCommandConfig } = await import('../operations/load-process-config.js');
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

/** The client of `instanceOf`. */
export async function clientOf(context: Context): Promise<ApiClient> {
  return (await instanceOf(context)).client;
}

/** `--url`, with the token of `--token` or PIGEONPOST_TOKEN. Other accounts of the machine can read a command line. */
async function givenAddress({ url, token: given }: Context): Promise<{ url: string; token: string } | undefined> {
  const { tokenOfEnvironment } = await import('../operations/load-process-config.js');
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    throw new CommandError(ExitCode.WrongUse, '--url is no address: write one such as http://127.0.0.1:8088');
  }
  const token = given ?? tokenOfEnvironment();
  if (token === '') {
    throw new CommandError(
      ExitCode.WrongUse,
      '--url needs a token of that pigeonpost: set PIGEONPOST_TOKEN, or add --token TOKEN',
    );
  }
  return { url: url.replace(/\/+$/, ''), token };
}
