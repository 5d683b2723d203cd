import type { ApiSources, ApiContext } from './api-app.js';
import type { Config } from '../config/config.js';
import { nearestWord } from '../config/nearest-word.js';
import type { Action } from '../operations/action.js';
import { Refused } from './problem.js';
import { rolesWith } from './authenticate.js';

/**
 * Returns the workspace that a response covers; null: all. A token for one workspace sees only that workspace.
 * @throws {Refused} 403 if another workspace is requested
 */
export function workspaceOf(c: ApiContext, asked?: string | null): string | null {
  const { workspace } = c.get('caller');
  if (asked !== undefined && asked !== null) requireWorkspace(c, asked);
  return workspace ?? asked ?? null;
}

/** @throws {Refused} 403 when the caller's token is for another workspace */
export function requireWorkspace(c: ApiContext, workspace: string): void {
  const { workspace: own } = c.get('caller');
  if (own !== null && own !== workspace) throw new Refused(403, `this token is only for the workspace ${own}`);
}

/**
 * Returns the pigeonhole for an ID or WORKSPACE/ID. For a caller with one workspace, an ID means the pigeonhole of that
 * workspace.
 * @throws {Refused} 403 if another workspace is named
 */
export function pigeonholeWithin(c: ApiContext, name: string): string {
  const { workspace } = c.get('caller');
  if (name.includes('/')) requireWorkspace(c, name.split('/')[0]!);
  else if (workspace !== null) return `${workspace}/${name}`;
  return name;
}

/** @throws {Refused} 403 if the caller's token is for one workspace, because the request concerns all of them */
export function requireEveryWorkspace(c: ApiContext): void {
  const { workspace } = c.get('caller');
  if (workspace === null) return;
  throw new Refused(403, `this token is only for the workspace ${workspace}, and the request concerns all workspaces`);
}

/**
 * @throws {Refused} 403 if the caller's token is for one workspace and the sink also receives data of another, because
 *   an action on a sink affects everything that it receives
 */
export function requireSink(c: ApiContext, { config }: Pick<ApiSources, 'config'>, sink: string): void {
  const { workspace } = c.get('caller');
  if (workspace === null) return;
  if (servesOnly({ config }, sink, workspace)) return;
  throw new Refused(
    403,
    `this token is only for the workspace ${workspace}, and sink ${sink} also receives data of another workspace`,
  );
}

/** Whether a sink receives data of this workspace, and of no other one. */
export function servesOnly({ config }: Pick<ApiSources, 'config'>, sink: string, workspace: string): boolean {
  const served = workspacesOfSink(config, sink);
  return served.length > 0 && served.every((each) => each === workspace);
}

/**
 * Returns a refusal that names the known object that the caller probably meant, among those that the caller may see.
 */
export function notKnown(
  c: ApiContext,
  sources: Pick<ApiSources, 'config'>,
  { kind, name }: Pick<Action, 'kind' | 'name'>,
): Refused {
  const { config } = sources;
  const own = c.get('caller').workspace;
  const known = {
    sink: () => Object.keys(config.sinks).filter((each) => seesSink(c, sources, each)),
    workspace: () => Object.keys(config.workspaces).filter((each) => own === null || each === own),
    pigeonhole: () => [],
  }[kind]();
  const nearest = nearestWord(name, known);
  const hint = nearest === undefined ? 'run "pigeonpost status" to see what exists' : `did you mean "${nearest}"?`;
  return new Refused(404, `no ${kind} ${name} is known: ${hint}`);
}

/** Returns a sink's name for the audit log. A name that is not configured is arbitrary input and is left out. */
export function sinkTarget({ config }: Pick<ApiSources, 'config'>, sink: string): string {
  return Object.hasOwn(config.sinks, sink) ? `sink:${sink}` : 'sink, not configured';
}

/** Whether the caller may see a sink, because it receives data of the caller's workspace. */
export function seesSink(c: ApiContext, { config }: Pick<ApiSources, 'config'>, sink: string): boolean {
  const { workspace } = c.get('caller');
  return workspace === null || workspacesOfSink(config, sink).includes(workspace);
}

function workspacesOfSink({ syncs }: Config, sink: string): string[] {
  return Object.values(syncs)
    .filter(({ sinks }) => sinks.includes(sink))
    .map(({ workspace }) => workspace);
}

/**
 * Returns the operator's name for the ledger. With a named token, it is the token's name, because the holder could send
 * any name. Otherwise it is the name in the request.
 */
export function actorOf(c: ApiContext, said: string | undefined): string | undefined {
  const { name, token } = c.get('caller');
  return token === null ? said : name;
}

/** Whether the request is for personal data. @throws {Refused} 403 if the caller may not see any */
export function wantsPersonal(c: ApiContext, asked: string | undefined): boolean {
  if (asked === undefined) return false;
  if (c.get('caller').rights.has('personal')) return true;
  throw new Refused(403, `personal data needs the role ${rolesWith('personal').join(' or ')}`);
}
