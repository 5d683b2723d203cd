import type { Collaborators } from '../work/collaborators.js';
import type { AppliedConfiguration } from '../api/configuration-plan.js';
import type { Environment } from '../config/environment.js';
import { planConfiguration } from '../operations/plan-configuration.js';
import type { ConfigurationSwitch } from './take-up-configuration.js';

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
