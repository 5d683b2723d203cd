import { handleRequest, type WorkScope } from '../activities/handle-request.js';
import type { Action } from '../api/start-api.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { selectedPigeonholes } from '../ledger/queries/pigeonholes.js';
import { delivering, discovering, reading, type WantedWorkflow, type WorkflowStarter } from './orchestration.js';

/** Carries out what a person asks of running work: the ledger first, then the signal that only wakes. */
export async function act(
  { config, ledger, starter }: { config: Config; ledger: Ledger; starter: WorkflowStarter },
  action: Action,
): Promise<boolean> {
  const target = await findTarget(config, ledger, action);
  if (target === undefined) return false;
  await handleRequest(ledger, target.scope, action.do);
  await starter.signal(target.workflow.id, 'wake'); // where it is not running, the reconciler starts it
  if (action.kind === 'workspace' && action.do === 'resume') await wakeAll(config, ledger, starter, action.name);
  return true;
}

async function findTarget(
  config: Config,
  ledger: Ledger,
  { kind, name }: Action,
): Promise<{ scope: WorkScope; workflow: WantedWorkflow } | undefined> {
  switch (kind) {
    case 'workspace':
      return name in config.workspaces ? { scope: { kind, name }, workflow: discovering(name) } : undefined;
    case 'sink':
      return name in config.sinks ? { scope: { kind, name }, workflow: delivering(name) } : undefined;
    case 'pigeonhole': {
      const selected = await selectedPigeonholes(ledger, Object.keys(config.syncs));
      const row = selected.find(({ workspace, pigeonholeId }) => `${workspace}/${pigeonholeId}` === name);
      if (row === undefined) return undefined;
      const place = { workspace: row.workspace, pigeonholeId: row.pigeonholeId };
      return { scope: { kind, name: place }, workflow: reading(place) };
    }
  }
}

async function wakeAll(config: Config, ledger: Ledger, starter: WorkflowStarter, workspace: string): Promise<void> {
  const selected = await selectedPigeonholes(ledger, Object.keys(config.syncs));
  const own = selected.filter((row) => row.workspace === workspace);
  await Promise.all(own.map((row) => starter.signal(reading(row).id, 'wake')));
}
