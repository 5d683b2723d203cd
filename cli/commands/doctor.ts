import type { Status } from '../../operations/status-view.js';
import { check, type Checked } from '../../worker/check.js';
import { binarySources } from '../../worker/embedded-temporal/binary-sources.js';
import { failureKindOf } from '../../worker/failure-kind.js';
import { installedVersions } from '../../worker/installed-versions.js';
import { type Config, loadProcessConfig } from '../../operations/load-process-config.js';
import { redactor } from '../../worker/redactor.js';
import { namedVariables, shownSettings } from '../../operations/shown-settings.js';
import { type ApiClient, apiClientFor } from '../api-client.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { type DoctorReport, formatDoctor, type RunningReport } from '../format-doctor.js';
import { latestTroublesOfLog } from '../latest-troubles-of-log.js';

const checkMs = 60_000;
/** Of each kind: a report is read by a person. */
const mostTold = 50;

/**
 * `pigeonpost doctor`: what somebody who is to help has to know, in one text or JSON document: versions, settings
 * without secrets, what the configuration names, how the running pigeonpost stands, and what went wrong lately. Works
 * also when hardly anything else does. Exit 0; 2 for a log that cannot be read.
 */
export async function doctor(
  { config: file, out }: Context,
  { log, json }: { log?: string | undefined; json: boolean },
): Promise<ExitCode> {
  const lines = log === undefined ? [] : await latestTroublesOfLog(log);
  const loaded = await load(file);
  const config = 'config' in loaded ? loaded.config : undefined;
  const report: DoctorReport = {
    at: new Date().toISOString(),
    versions: installedVersions(),
    file,
    variables: await namedVariables(file),
    problem: 'problem' in loaded ? loaded.problem : null,
    settings: config === undefined ? null : shownSettings(config),
    checks: config === undefined ? [] : await lookAt(config),
    running:
      config === undefined
        ? { answers: false, why: 'cannot be asked without a configuration' }
        : await askRunning(apiClientFor(config)),
    log: lines,
  };
  const shown = redactor(config)(report);
  if (json) out.line(JSON.stringify(shown));
  else for (const line of formatDoctor(shown)) out.line(line);
  return ExitCode.Done;
}

async function load(file: string): Promise<{ config: Config } | { problem: string }> {
  try {
    return { config: await loadProcessConfig(file) };
  } catch (error) {
    if (failureKindOf(error) !== 'configuration' || !(error instanceof Error)) throw error;
    return { problem: error.message };
  }
}

async function lookAt(config: Config): Promise<Checked[]> {
  const found: Checked[] = [];
  for await (const each of check(config, binarySources(), AbortSignal.timeout(checkMs))) found.push(each);
  return found;
}

async function askRunning(client: ApiClient): Promise<DoctorReport['running']> {
  try {
    const [status, { troubles }, { groups }] = await Promise.all([
      client.status({ counts: false }),
      client.overview(),
      client.deadLetters({}),
    ]);
    return {
      ...summed(status),
      troubles: troubles.slice(0, mostTold).map(({ code, severity, text, since }) => ({ code, severity, text, since })),
      deadLetters: groups
        .slice(0, mostTold)
        .map(({ sink, cause, list, changes, newest, detail }) => ({ sink, cause, list, changes, newest, detail })),
    };
  } catch (error) {
    if (error instanceof CommandError) return { answers: false, why: error.message };
    throw error;
  }
}

function summed({
  configuration,
  settled,
  workspaces,
  sinks,
}: Status): Omit<RunningReport, 'troubles' | 'deadLetters'> {
  const pigeonholes: Record<string, number> = {};
  for (const { state } of workspaces.flatMap((workspace) => workspace.pigeonholes)) {
    pigeonholes[state] = (pigeonholes[state] ?? 0) + 1;
  }
  return {
    answers: true,
    configuration,
    settled,
    pigeonholes,
    sinks: sinks.map(({ name, type, state, delivered, backlog, dead }) => ({
      name,
      type,
      state,
      delivered,
      backlog,
      dead: Object.values(dead).reduce((sum, n) => sum + n, 0),
    })),
    quotas: workspaces.flatMap(({ name, quota }) =>
      quota === null ? [] : [{ workspace: name, used: quota.used, left: quota.left }],
    ),
  };
}
