import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { ApiApp } from '../../api/api-app.js';
import type { StatementView } from '../../api/statements.js';
import { attendToStatements, type StatementDeps } from '../../operations/statement/statement-desk.js';
import type { SignedStatement } from '../../operations/statement/statement.js';
import type { Scene } from './scene.js';
import { starterOf } from './starter-of.js';
import { pigeonhole } from './stage.js';

/** Returns what a process passes to the making of statements. */
export function statementDeps({ deps }: Pick<Scene, 'deps'>): StatementDeps {
  const { ledger, config, configuration, sinks, log } = deps;
  return { ledger, config, configuration, sinks, log, trouble: () => null, quotas: async () => new Map() };
}

/** Returns an API on a scene's ledger. */
export function statementApi({ deps }: Pick<Scene, 'deps'>): ApiApp {
  const { ledger, config, configuration } = deps;
  return createApp(apiSources({ ledger, config, configuration }));
}

export async function apiText(
  app: ApiApp,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly text: string }> {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await app.request(path, { headers: asLocalUser, ...sent });
  return { status: answer.status, text: await answer.text() };
}

/** Requests a statement of the stage's pigeonhole. @returns its number */
export async function askForStatement(app: ApiApp, request: { readonly audit?: boolean } = {}): Promise<number> {
  const { status, text } = await apiText(app, `/api/pigeonholes/acme/${pigeonhole}/statements`, request);
  if (status !== 200) throw new Error(`the request for a statement answers HTTP ${status}: ${text}`);
  return (JSON.parse(text) as { number: number }).number;
}

/** Returns a statement, or how far it is. */
export async function lookAtStatement(app: ApiApp, number: number): Promise<StatementView> {
  return JSON.parse((await apiText(app, `/api/statements/${number}`)).text) as StatementView;
}

/**
 * Makes a statement as an operator does: requests it, lets everything be read and delivered, and fetches it.
 * @param waits called if the statement waits for deliveries or checks that do not end
 */
export async function makeStatement(
  scene: Scene,
  waits = async (): Promise<void> => undefined,
): Promise<SignedStatement> {
  const app = statementApi(scene);
  const number = await askForStatement(app);
  for (let round = 0; round < 200; round += 1) {
    await scene.settle();
    await scene.save();
    await attendToStatements(statementDeps(scene), starterOf(scene.deps));
    const { progress } = await lookAtStatement(app, number);
    if (progress === null || progress.blocked !== null || progress.read === progress.lists) break;
    // A long list is read in several cycles, between which it rests.
    await scene.ledger.db.query('update streams set due_at = now() where due_at > now()');
  }
  if ((await lookAtStatement(app, number)).completedAt === null) {
    await waits();
    await attendToStatements(statementDeps(scene), starterOf(scene.deps));
  }
  const { signed, progress } = await lookAtStatement(app, number);
  if (signed === null) throw new Error(`the statement is not complete: ${JSON.stringify(progress)}`);
  return signed;
}
