import { performance } from 'node:perf_hooks';
import { join } from 'node:path';
import type { ApiSources, ProbeSources } from '../api/api-app.js';
import { readPageFiles } from '../api/serve-page.js';
import type { Config } from '../config/config.js';
import { act, testSink } from '../operations/act.js';
import { startAudit, startRepair } from '../operations/audit-sink.js';
import { applyConfiguration, type ConfigurationSwitch } from './switch-configuration.js';
import type { Editions } from '../operations/editions.js';
import { createImportDesk, type DeskParts } from '../importing/desk/import-desk.js';
import type { WorkflowStarter } from '../operations/orchestration.js';
import { packageRoot } from '../base/package-root.js';
import { planConfiguration } from '../operations/plan-configuration.js';
import { previewSink } from '../operations/preview-sink.js';
import { planProvisioning, provisionEvent } from '../operations/provision-event.js';
import { checkReady, shareAnswers } from '../operations/ready/check-ready.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { startReplay } from '../operations/start-replay.js';

/**
 * Time for which the results of the readiness checks are shared. Many open pages then check the sinks only once, but a
 * fix still shows quickly.
 */
const readyForMs = 10_000;

/** Sources that probes and the API share, independent of the current configuration. */
export type CommonSources = Omit<ProbeSources, 'config' | 'configuration'>;

/**
 * Returns the sources of a process that only answers probes. They contain the address at which it listens, because the
 * address decides which callers need a token. The configuration is read for each request, because it can change while
 * the process runs.
 */
export function probeSources(
  common: CommonSources,
  editions: Editions,
  { host, port }: Pick<Config['server'], 'host' | 'port'>,
): ProbeSources {
  return {
    ...common,
    get config() {
      const { config } = editions.current;
      return { ...config, server: { ...config.server, host, port } };
    },
    get configuration() {
      return editions.current.configuration;
    },
  };
}

interface ApiParts extends Pick<ApiSources, 'alerts' | 'backup' | 'pageCodes'>, DeskParts {
  readonly editions: Editions;
  readonly starter: WorkflowStarter;
  readonly switching: ConfigurationSwitch;
}

/** Returns the sources of the API in this process. Reads the built page. */
export function apiSources(common: CommonSources, parts: ApiParts): ApiSources {
  const { alerts, backup, pageCodes, editions, starter, switching, ...ofImports } = parts;
  return {
    ...common,
    get config() {
      return editions.current.config;
    },
    get configuration() {
      return editions.current.configuration;
    },
    starter,
    act: (action) => act({ deps: editions.current, starter }, action),
    replay: (wanted) => startReplay({ deps: editions.current, starter }, wanted),
    canAudit: (sink) => editions.current.sinks.get(sink)?.sink.readBack !== undefined,
    audit: (wanted) => startAudit({ deps: editions.current, starter }, wanted),
    repair: (sink, wanted) => startRepair({ deps: editions.current, starter }, sink, wanted),
    planConfiguration: (candidate) => planConfiguration(editions.current, candidate),
    preview: (asked) => previewSink(editions.current, asked),
    applyConfiguration: (by) => applyConfiguration(editions.current, switching, by),
    lookAtEvent: (asked) => planProvisioning(editions, asked),
    applyEvent: (asked) => provisionEvent(editions, starter, asked),
    checkReady: shareAnswers(
      (place: PigeonholeName) => editions.use((deps) => checkReady(deps, place, deps.ledger.clock.nowMs())),
      {
        nameOf: ({ workspace, pigeonholeId }) => `${editions.current.configuration} ${workspace}/${pigeonholeId}`,
        forMs: readyForMs,
        now: () => performance.now(),
      },
    ),
    testSink: (name) => editions.use((deps) => testSink(deps, name)),
    backup,
    pageCodes,
    page: readPageFiles(join(packageRoot(), 'dist/dashboard')),
    imports: createImportDesk({ editions, ...ofImports }),
    alerts,
  };
}
