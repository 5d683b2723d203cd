import type { ApiSources, ApiApp, ApiContext } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import type { Config } from '../config/config.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { audited } from './audit-log.js';
import {
  appliedConfigurationSchema,
  applySchema,
  type Candidate,
  configurationPlanSchema,
  plannedSchema,
} from '../operations/configuration-plan.js';
import { DraftError } from '../operations/drafts/drafts.js';
import { Refused } from './problem.js';
import { rolesWith } from './authenticate.js';
import type { AllPlaces } from './places.js';
import { answers, jsonBody, needs, personalSchema } from './route-parts.js';
import { requireEveryWorkspace, requireSink, requireWorkspace, sinkTarget, wantsPersonal } from './scope.js';
import {
  previewRequestSchema,
  previewSchema,
  type NamedPreview,
  withoutWhatIsSent,
} from '../operations/preview-sink.js';

/** Size limit of a configuration file. */
export const largestFileBytes = 1024 * 1024;

export const planRoute = createRoute({
  method: 'post',
  path: '/api/configuration/plan',
  operationId: 'planConfiguration',
  tags: ['Configuration'],
  summary: 'Compare a configuration with the running one; changes nothing',
  ...needs({
    right: 'operate',
    largestBytes: largestFileBytes,
    looksLike: 'a plan takes {}, or "file" and its "text", or "draft", the name of a sink',
  }),
  request: { body: jsonBody(plannedSchema) },
  responses: answers(
    'The changes that applying the file would make.',
    configurationPlanSchema,
    404,
    409,
    413,
    415,
    422,
  ),
});

export const applyRoute = createRoute({
  method: 'post',
  path: '/api/configuration/apply',
  operationId: 'applyConfiguration',
  tags: ['Configuration'],
  summary: 'Apply the current content of the configuration file that the process was started with',
  ...needs({
    right: 'administer',
    looksLike: 'apply takes {}, or "file", the absolute path of the configuration file',
  }),
  request: { body: jsonBody(applySchema) },
  responses: answers('The changes that were made.', appliedConfigurationSchema, 409, 413, 415, 422),
});

export function serveConfiguration(app: ApiApp, sources: ApiSources, { plans }: AllPlaces): void {
  app.openapi(planRoute, async (c) => {
    const candidate = c.req.valid('json');
    requireEveryWorkspace(c);
    requireOwnFile(c, sources.config, candidate);
    const plan = await plans.in(() => usable(async () => await sources.planConfiguration(candidate)));
    return c.json(plan, 200);
  });
  app.openapi(applyRoute, async (c) => {
    const { file } = c.req.valid('json');
    requireEveryWorkspace(c);
    const applied = await audited(c, sources.ledger, { action: 'apply-configuration', target: null }, async () => {
      const own = sources.config.file;
      if (file !== undefined && file !== own) {
        throw new Refused(
          409,
          `this pigeonpost was started with ${own}: change that file, or start pigeonpost with the other one`,
        );
      }
      return await usable(() => sources.applyConfiguration(c.get('caller').name));
    });
    return c.json(applied, 200);
  });
}

/**
 * Checks that the caller may send a text as a configuration. The answer compares it with the whole running
 * configuration, so the caller needs the right to all workspaces and to the configuration.
 * @throws {Refused} 403
 */
function requireOwnFile(c: ApiContext, { file: own }: Pick<Config, 'file'>, { file, text }: Candidate): void {
  const isOwn = text === undefined || file === undefined || file === own;
  if (isOwn) return;
  requireEveryWorkspace(c);
  if (c.get('caller').rights.has('administer')) return;
  throw new Refused(
    403,
    `comparing a file other than the one that pigeonpost was started with requires a token with the role ${rolesWith('administer').join(' or ')}`,
  );
}

/** Compared by name, because the classes belong to folders that this one must not import. */
const unusable: ReadonlySet<string> = new Set(['ConfigError', 'ClientOptionsError']);

const draftStatus = { unknown: 404, conflict: 409, unusable: 422 } as const;

/** @throws {Refused} 422, with every problem, for a configuration that cannot be used */
export async function usable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && unusable.has(error.name)) throw new Refused(422, error.message);
    if (error instanceof DraftError) throw new Refused(draftStatus[error.kind], error.message);
    if (error instanceof LedgerError && error.kind === 'configuration') throw new Refused(409, error.message);
    throw error;
  }
}

export const previewRoute = createRoute({
  method: 'post',
  path: '/api/preview',
  operationId: 'preview',
  tags: ['Sinks'],
  summary: 'Preview what a sink would receive of stored items; sends nothing',
  ...needs({
    right: 'read',
    largestBytes: 2 * largestFileBytes,
    looksLike:
      'a preview has "sink", "list", "pigeonhole" and "key" (each null for all), "limit" (1 to 1000), "configuration" and "changedFrom" (null, or with "file" and "text")',
  }),
  request: { query: z.strictObject({ personal: personalSchema }), body: jsonBody(previewRequestSchema) },
  responses: answers('The preview of what the sink would receive.', previewSchema, 404, 409, 413, 415, 422),
});

export function servePreview(app: ApiApp, sources: ApiSources, { plans }: AllPlaces): void {
  app.openapi(previewRoute, async (c) => {
    const asked = c.req.valid('json');
    const { sink, pigeonhole, list, key } = asked;
    if (pigeonhole === null) requireSink(c, sources, sink);
    else requireWorkspace(c, pigeonhole.split('/')[0]!);
    for (const file of [asked.configuration, asked.changedFrom]) {
      if (file !== null) requireOwnFile(c, sources.config, file);
    }
    const look = async (): Promise<NamedPreview> => {
      const shown = await plans.in(() => usable(async () => await sources.preview(asked)));
      if ('unknown' in shown) throw new Refused(404, `${shown.unknown}: run "pigeonpost status" to see what exists`);
      return shown;
    };
    if (!wantsPersonal(c, c.req.valid('query').personal)) {
      const { names, ...preview } = await look();
      return c.json({ ...preview, items: preview.items.map((item) => withoutWhatIsSent(item, names)) }, 200);
    }
    const entry = {
      action: 'preview-personal',
      target: sinkTarget(sources, sink),
      detail: { pigeonhole, list, oneItem: key !== null },
    };
    const { names: _, ...preview } = await audited(c, sources.ledger, entry, look);
    return c.json(preview, 200);
  });
}
