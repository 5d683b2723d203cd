import { Client, type ClientConfig } from 'pg';
import { storeTls } from './postgres.js';
import type { Queryable } from './database.js';

/** The channel of PostgreSQL's `NOTIFY` on which the processes of a ledger wake each other. */
const channel = 'pigeonpost_wakes';

/** Maximum length of a notification's text in bytes; PostgreSQL refuses 8,000. */
const longestText = 7000;
/** Wait before the next attempt after a connection was lost. */
const reconnectMs = 1000;
/** A silent connection is checked this often, because a firewall may have dropped it. */
const checkEveryMs = 30_000;
const answerMs = 10_000;

interface Notification {
  /** The process that sent it, which has woken its own listeners already. */
  readonly from: string;
  readonly names: readonly string[];
}

/**
 * Sends names to the other processes, all in one statement. Names without a quote or a backslash; longer lists are sent
 * as several notifications.
 */
export async function notifyWakes(db: Queryable, from: string, names: readonly string[]): Promise<void> {
  const texts: string[] = [];
  let part: string[] = [];
  const textOf = (some: readonly string[]): string => JSON.stringify({ from, names: some } satisfies Notification);
  for (const name of names) {
    if (part.length > 0 && Buffer.byteLength(textOf([...part, name])) > longestText) {
      texts.push(textOf(part));
      part = [];
    }
    part.push(name);
  }
  texts.push(textOf(part));
  await db.query(`select pg_notify('${channel}', n.text) from unnest($1::text[]) as n (text)`, [texts]);
}

export interface WakeListener {
  /** Receives the names of one notification. */
  readonly onNames: (names: readonly string[]) => void;
  /** Called at each new connection: notifications may have been lost before it. */
  readonly onConnected: () => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Listens on a connection of its own, and connects again after a failure, until it is closed. Only PostgreSQL servers;
 * through a pooler that does not keep sessions, nothing arrives.
 * @param from ignores notifications of this process
 * @returns a function that ends it
 */
export function listenForWakes(url: string, from: string, listener: WakeListener): () => Promise<void> {
  const { ssl, url: connectionString } = storeTls(url);
  const config: ClientConfig = {
    connectionString,
    ssl,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    keepAlive: true,
    application_name: 'pigeonpost wakes',
  };
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await stayConnected(config, from, listener, stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        listener.onFailure(error);
        await pause(reconnectMs, stop.signal);
      }
    }
  };
  const ended = run();
  return async () => {
    stop.abort();
    await ended;
  };
}

/** Resolves when the signal is aborted. @throws when the connection cannot be opened, or is lost */
async function stayConnected(
  config: ClientConfig,
  from: string,
  { onNames, onConnected }: WakeListener,
  signal: AbortSignal,
): Promise<void> {
  const client = new Client(config);
  const lost = new Promise<never>((_, reject) => {
    client.on('error', reject);
    client.on('end', () => reject(new Error('the connection that listens for wakes has ended')));
  });
  lost.catch(() => undefined);
  client.on('notification', ({ payload }) => {
    const names = namesIn(payload ?? '', from);
    if (names.length > 0) onNames(names);
  });
  try {
    await Promise.race([client.connect(), lost]);
    await Promise.race([client.query(`listen ${channel}`), lost]);
    onConnected();
    while (!signal.aborted) {
      await Promise.race([pause(checkEveryMs, signal), lost]);
      if (signal.aborted) return;
      await Promise.race([client.query('select 1'), lost]);
    }
  } finally {
    client.end().catch(() => undefined); // not awaited: a lost connection may never end
  }
}

function namesIn(text: string, from: string): readonly string[] {
  try {
    const notification = JSON.parse(text) as Partial<Notification>;
    if (notification.from === from || !Array.isArray(notification.names)) return [];
    return notification.names.filter((name) => typeof name === 'string');
  } catch {
    return []; // from another program that uses the channel
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
