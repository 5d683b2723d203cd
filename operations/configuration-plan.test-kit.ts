import type { ConfigurationPlan } from './configuration-plan.js';

/** Returns the plan of a configuration that changes nothing, with what a test adds. */
export function planOf(given: Partial<ConfigurationPlan> = {}): ConfigurationPlan {
  return {
    current: 3,
    changes: [],
    pigeonholes: [],
    deliveries: [],
    withholding: [],
    kept: [],
    atNextStart: [],
    warnings: [],
    ...given,
  };
}
