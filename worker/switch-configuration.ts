import type { Config } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';
import type { Ledger } from '../ledger/ledger.js';
import {
  anotherConfiguration,
  currentConfiguration,
  isCurrentConfiguration,
  replaceConfiguration,
} from '../ledger/configurations.js';
import { ClientOptionsError } from '../pigeonhole/client-options-error.js';
import type { Editions } from '../operations/editions.js';
import { documentOf, openEdition, type Shared } from '../operations/open-edition.js';
import type { Collaborators } from '../work/collaborators.js';
import type { AppliedConfiguration } from '../api/configuration-plan.js';
import type { Environment } from '../config/environment.js';
import { planConfiguration } from '../operations/plan-configuration.js';

/** How a running process gets from one configuration to the next. */
export interface ConfigurationSwitch {
  /**
   * Makes this process's file, as it stands now, the current configuration, here at once and in other processes when
   * they see it. A file that is the current one already changes nothing.
   * @throws {ConfigError | ClientOptionsError} when the file cannot be used, {LedgerError} when another process has
   * made another one current meanwhile; then nothing has changed
   */
  apply(): Promise<{ readonly number: number; readonly changed: boolean }>;
  /**
   * Takes up the current configuration when this process's own file is it by now: `config apply` was given to another
   * process, which has the same file.
   * @returns whether this process runs the current configuration afterwards
   */
  catchUp(): Promise<boolean>;
}

/** A file is looked into this often at most, however many turns are refused meanwhile. */
const leastBetweenLooksMs = 1000;

/**
 * One switch at a time: they wait for each other.
 * @param load reads this process's file as it stands now
 * @param onSwitch called after each switch, with the configuration before and the one now
 */
export function createConfigurationSwitch(
  load: () => Promise<Config>,
  editions: Editions,
  shared: Shared,
  onSwitch: (before: Config, now: Config) => Promise<void>,
): ConfigurationSwitch {
  const { ledger, log } = shared;
  let turn: Promise<unknown> = Promise.resolve();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let toldOf = 0;
  const oneAtATime = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const switchTo = async (config: Config, number: (document: unknown) => Promise<number>): Promise<void> => {
    const before = editions.current.config;
    const next = await openEdition(config, shared, number);
    editions.replace(next);
    log.info({ configuration: next.to.configuration }, 'configuration taken up');
    await onSwitch(before, config);
  };

  const apply = async (): Promise<{ number: number; changed: boolean }> => {
    const config = await load();
    const { configuration } = editions.current;
    if ((await isCurrentConfiguration(ledger, documentOf(config, ledger))) === configuration) {
      return { number: configuration, changed: false };
    }
    await switchTo(config, (document) => replaceConfiguration(ledger, document, configuration));
    return { number: editions.current.configuration, changed: true };
  };

  const catchUp = async (): Promise<boolean> => {
    const current = await currentConfiguration(ledger);
    if (current === editions.current.configuration) return true;
    if (performance.now() - lookedAt < leastBetweenLooksMs) return false;
    lookedAt = performance.now();
    const config = await ownFile(load);
    if (config !== undefined && (await isCurrentConfiguration(ledger, documentOf(config, ledger))) !== undefined) {
      await switchTo(config, (document) => numberOf(ledger, document, editions.current.configuration));
      return true;
    }
    if (toldOf !== current) {
      toldOf = current;
      log.warn({ own: editions.current.configuration, current }, 'another configuration is current: work is refused');
    }
    return false;
  };
  return { apply: () => oneAtATime(apply), catchUp: () => oneAtATime(catchUp) };
}

/** Undefined while it cannot be used: it may be half written. */
async function ownFile(load: () => Promise<Config>): Promise<Config | undefined> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof ConfigError || error instanceof ClientOptionsError) return undefined;
    throw error;
  }
}

/** The number of the current configuration, which has to be this one still. */
async function numberOf(ledger: Ledger, document: unknown, own: number): Promise<number> {
  const number = await isCurrentConfiguration(ledger, document);
  if (number === undefined) throw anotherConfiguration(own, await currentConfiguration(ledger));
  return number;
}

/**
 * Makes this process's file, as it stands now, the current configuration, and tells what that changes and causes.
 * @throws as `planConfiguration` and `ConfigurationSwitch.apply`; then nothing has changed
 */
export async function applyConfiguration(
  current: Pick<Collaborators, 'config' | 'configuration' | 'ledger' | 'log'>,
  switching: ConfigurationSwitch,
  environment?: Environment,
): Promise<AppliedConfiguration> {
  const plan = await planConfiguration(current, {}, environment); // before: afterwards there is nothing to compare with
  const { number, changed } = await switching.apply();
  return { number, changed, plan };
}
