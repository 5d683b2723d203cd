import { messageOf } from '../base/errors.js';
import type { Config } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  anotherConfiguration,
  currentConfiguration,
  isCurrentConfiguration,
  replaceConfiguration,
} from '../ledger/configurations.js';
import { ClientOptionsError } from '../pigeonhole/api-error.js';
import { shownText } from '../operations/configurations/shown-text.js';
import { type Editions, documentOf, openEdition, type Shared } from '../operations/editions.js';
import type { Collaborators } from '../cycles/collaborators.js';
import type { AppliedConfiguration } from '../operations/configuration-plan.js';
import type { Environment } from '../config/environment.js';
import { planConfiguration } from '../operations/plan-configuration.js';

/** Switches a running process from one configuration to the next. */
export interface ConfigurationSwitch {
  /**
   * Makes this process's file the current configuration. This process switches immediately, other processes when they
   * notice. If the file is current already, nothing changes.
   * If Temporal does not answer, the switch counts all the same, and `catchUp` wakes the workflows later.
   * @param by name of the caller, for the history; null: not known
   * @throws {ConfigError | ClientOptionsError} if the file cannot be used; {LedgerError} if another process has made
   *   another configuration current meanwhile. Then nothing has changed
   */
  apply(by: string | null): Promise<{ readonly number: number; readonly changed: boolean }>;
  /**
   * Switches to the current configuration if this process's own file equals it, because another process with the same
   * file ran `config apply`. Wakes the workflows that could not be woken after an earlier switch.
   * @returns true if this process runs the current configuration afterwards
   */
  catchUp(): Promise<boolean>;
}

/** Minimum time between two reads of the file, however many cycles are refused meanwhile. */
const minBetweenReadsMs = 1000;

/**
 * Creates the switch. Its calls run one after another.
 * @param load reads this process's file
 * @param onSwitch called after each switch, with the configuration before and the one now; called again if it fails
 */
export function createConfigurationSwitch(
  load: () => Promise<Config>,
  editions: Editions,
  shared: Shared,
  onSwitch: (before: Config, now: Config) => Promise<void>,
): ConfigurationSwitch {
  const { ledger, log } = shared;
  let last: Promise<unknown> = Promise.resolve();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let warnedAbout = 0;
  /** Replaced configurations whose workflows were not woken yet. */
  let notWoken: Config[] = [];
  const oneAtATime = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
  const switchTo = async (
    read: Config,
    number: (document: unknown, text: string | null) => Promise<number>,
  ): Promise<void> => {
    const before = editions.current.config;
    // These belong to the process, and take effect at its next start: it still listens where it did.
    const { store, temporal, server } = before;
    const config = { ...read, store, temporal, server };
    const next = await openEdition(config, shared, number);
    editions.replace(next);
    log.info({ configuration: next.deps.configuration }, 'switched to another configuration');
    notWoken.push(before);
    await wake();
  };
  const wake = async (): Promise<void> => {
    try {
      for (const before of notWoken) await onSwitch(before, editions.current.config);
      notWoken = [];
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the workflows could not be woken after the switch; trying again');
    }
  };

  const apply = async (by: string | null): Promise<{ number: number; changed: boolean }> => {
    const config = await load();
    const { configuration } = editions.current;
    const document = documentOf(config, ledger);
    if ((await isCurrentConfiguration(ledger, document)) === configuration) {
      await replaceConfiguration(ledger, document, configuration, { text: shownText(config), by }); // keeps its text
      return { number: configuration, changed: false };
    }
    await switchTo(config, (next, text) => replaceConfiguration(ledger, next, configuration, { text, by }));
    return { number: editions.current.configuration, changed: true };
  };

  const catchUp = async (): Promise<boolean> => {
    const current = await currentConfiguration(ledger);
    if (current === editions.current.configuration) {
      await wake();
      return true;
    }
    if (performance.now() - readAtMs < minBetweenReadsMs) return false;
    readAtMs = performance.now();
    const config = await ownFile(load);
    if (config !== undefined && (await isCurrentConfiguration(ledger, documentOf(config, ledger))) !== undefined) {
      await switchTo(config, (document) => numberOf(ledger, document, editions.current.configuration));
      return true;
    }
    if (warnedAbout !== current) {
      warnedAbout = current;
      log.warn({ own: editions.current.configuration, current }, 'another configuration is current: work is refused');
    }
    return false;
  };
  return { apply: (by) => oneAtATime(() => apply(by)), catchUp: () => oneAtATime(catchUp) };
}

/** Reads the file; returns undefined if it cannot be used, for example because it is half written. */
async function ownFile(load: () => Promise<Config>): Promise<Config | undefined> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof ConfigError || error instanceof ClientOptionsError) return undefined;
    throw error;
  }
}

/** Returns the number of the current configuration. Throws if the document is no longer the current one. */
async function numberOf(ledger: Ledger, document: unknown, own: number): Promise<number> {
  const number = await isCurrentConfiguration(ledger, document);
  if (number === undefined) throw anotherConfiguration(own, await currentConfiguration(ledger));
  return number;
}

/**
 * Makes this process's file the current configuration and returns what changed and what the change will cause.
 * @param by name of the caller, for the history; null: not known
 * @throws as `planConfiguration` and `ConfigurationSwitch.apply`; then nothing has changed
 */
export async function applyConfiguration(
  current: Pick<Collaborators, 'config' | 'configuration' | 'ledger' | 'log'>,
  switching: Pick<ConfigurationSwitch, 'apply'>,
  by: string | null,
  environment?: Environment,
): Promise<AppliedConfiguration> {
  // Planned before the switch, because afterwards the previous configuration is no longer available for the comparison.
  const plan = await planConfiguration(current, {}, environment);
  const { number, changed } = await switching.apply(by);
  return { number, changed, plan };
}
