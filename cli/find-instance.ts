import { randomBytes } from 'node:crypto';
import {
  type InstanceFile,
  readInstanceFile,
  type InstanceAnswer,
  tokensForCommands,
} from '../worker/instance-file.js';
import type { ClientConfig } from '../operations/command-input.js';
import { CommandError, ExitCode } from './exit-code.js';

/** The address of an API, and a token for it. */
export interface ApiAddress {
  readonly url: string;
  readonly token: string | undefined;
}

/** The settings that identify a running process. */
export type InstanceConfig = Pick<ClientConfig, 'file' | 'folder' | 'store' | 'server'>;

/** An address from `--url`, which is used instead of the configuration's. */
interface GivenAddress {
  readonly url: string;
  readonly token: string;
}

const withinMs = 10_000;

/** A pigeonpost answers, but it is starting or cannot read its ledger now, so it does not identify itself. */
export class NotReadyError extends CommandError {}

/**
 * Finds the running pigeonpost of a configuration and verifies its identity before anything is sent. Several may run on
 * one machine, and if one has ended, another program may listen on its port.
 * @throws {CommandError} exit 3 if nothing answers, or another pigeonpost or program does; 1 if the token is not
 * accepted
 */
export async function findInstance(config: InstanceConfig): Promise<ApiAddress> {
  const noted = readInstanceFile(config);
  const configured = configuredUrl(config);
  const tokens = tokensForCommands(config);
  if (noted !== undefined && noted.url !== configured) {
    // If a process was killed, its file still exists, although the process has ended. Its successor may listen at the
    // configured address.
    for (const token of tokens) {
      const found = await ask(noted.url, token).catch(() => undefined);
      if (found === undefined) break;
      if (await isOwn(found, { noted, config, token })) return { url: noted.url, token };
    }
  }
  let found = await ask(configured, tokens[0]);
  for (const [number, token] of tokens.entries()) {
    if (number > 0) found = await ask(configured, token);
    if (await isOwn(found, { noted, config, token })) return { url: configured, token };
  }
  if (noted?.ledger === found.answer.ledger) throw tokenRefused(configured);
  throw new CommandError(
    ExitCode.Unreachable,
    `the pigeonpost at ${configured} belongs to another configuration, not to ${config.file}, so nothing was sent to it. Start this one ("pigeonpost start", with its own server.port), or add --url ${configured} to use the other one`,
  );
}

/**
 * Finds the running pigeonpost that noted its address at the place of a configuration.
 * @returns `instance`: a process that noted its address there and has not ended in order; `address`: it has proven its
 *   identity
 */
export async function findNoted(
  config: InstanceConfig,
): Promise<{ readonly instance?: InstanceFile | undefined; readonly address?: ApiAddress }> {
  const instance = readInstanceFile(config);
  if (instance === undefined) return {};
  try {
    return { instance, address: await findInstance(config) };
  } catch (error) {
    if (error instanceof NotReadyError || isTokenRefusal(error)) return { instance };
    if (error instanceof CommandError) return {};
    throw error;
  }
}

/** Returns whether the pigeonpost of a configuration runs, even if it is starting or does not accept the token. */
export async function isRunning(config: InstanceConfig): Promise<boolean> {
  try {
    await findInstance(config);
    return true;
  } catch (error) {
    return error instanceof NotReadyError || isTokenRefusal(error);
  }
}

/** Returns true for the error of `findInstance` about a pigeonpost of this configuration that refuses the token. */
export function isTokenRefusal(error: unknown): boolean {
  return error instanceof CommandError && error.exitCode === ExitCode.Failed;
}

/** Verifies that a pigeonpost that knows the token answers at this address. @throws {CommandError} as `findInstance` */
export async function checkGiven({ url, token }: GivenAddress): Promise<ApiAddress> {
  const { isSameProof, proofKey, prove } = await import('../worker/instance-file.js'); // loads the API's modules
  const { answer, challenge } = await ask(url, token);
  const key = await proofKey(token, answer.ledger);
  if (isSameProof(answer.proof, prove(key, challenge, 'ledger', answer.ledger))) return { url, token };
  throw tokenRefused(url);
}

/** Returns the address at which the process of a configuration listens, as seen from this machine. */
function configuredUrl({ server: { host, port } }: Pick<InstanceConfig, 'server'>): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the error for an address at which nothing listens. */
export function nobodyAnswers(url: string, cause: unknown): CommandError {
  return new CommandError(
    ExitCode.Unreachable,
    `no pigeonpost answers at ${url}: start it with "pigeonpost start", or check server.host and server.port`,
    { cause },
  );
}

interface Found {
  readonly answer: InstanceAnswer;
  readonly challenge: string;
}

async function ask(url: string, token: string | undefined): Promise<Found> {
  const { tokenIdOf } = await import('../worker/instance-file.js');
  const challenge = randomBytes(32).toString('base64url');
  const id = token === undefined ? undefined : tokenIdOf(token);
  const query = new URLSearchParams({ challenge, ...(id === undefined ? {} : { token: id }) });
  const response = await fetch(`${url}/instance?${query.toString()}`, {
    signal: AbortSignal.timeout(withinMs),
    redirect: 'error',
  }).catch((error: unknown) => {
    throw nobodyAnswers(url, error);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok && isAnswer(answer)) return { answer, challenge };
  if (response.status === 503 && isProblem(answer)) throw new NotReadyError(ExitCode.Unreachable, answer.detail);
  throw new CommandError(
    ExitCode.Unreachable,
    `the program at ${url} is not this version of pigeonpost: check the address, or stop that program and start pigeonpost`,
  );
}

async function isOwn(
  { answer, challenge }: Found,
  { noted, config, token }: { noted: InstanceFile | undefined; config: InstanceConfig; token: string },
): Promise<boolean> {
  const { isSameProof, proofKey, prove, realPath, storeName } = await import('../worker/instance-file.js');
  if (noted !== undefined && noted.ledger !== answer.ledger) return false;
  const key = await proofKey(token, answer.ledger);
  const is = (statement: 'ledger' | 'store' | 'file', value: string): boolean =>
    isSameProof(answer[statement === 'ledger' ? 'proof' : statement], prove(key, challenge, statement, value));
  if (!is('ledger', answer.ledger)) return false;
  // A generated token identifies one installation; a configured token may be shared by several.
  if (noted !== undefined || token !== config.server.token?.reveal()) return true;
  const { store, file } = config;
  return store.kind === 'unknown' ? is('file', realPath(file)) : is('store', storeName(store));
}

function tokenRefused(url: string): CommandError {
  return new CommandError(
    ExitCode.Failed,
    `the pigeonpost at ${url} does not accept this token: it was revoked, has expired, or belongs to another pigeonpost. Use another token, or create one with "pigeonpost token create"`,
  );
}

function isAnswer(value: unknown): value is InstanceAnswer {
  if (typeof value !== 'object' || value === null) return false;
  return (['pigeonpost', 'ledger', 'proof', 'store', 'file'] as const).every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'string',
  );
}

function isProblem(value: unknown): value is { readonly detail: string } {
  return typeof value === 'object' && value !== null && 'detail' in value && typeof value.detail === 'string';
}
