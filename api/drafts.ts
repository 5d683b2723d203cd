import { createRoute, z } from '@hono/zod-openapi';
import { configuredName } from '../base/printable.js';
import { appliedConfigurationSchema } from '../operations/configuration-plan.js';
import { applyDraft, listDrafts, saveMappingDraft } from '../operations/drafts/drafts.js';
import {
  connectRequestSchema,
  listSinkForms,
  saveSinkDraft,
  sinkFormsSchema,
  triedSinkSchema,
  trySink,
} from '../operations/drafts/connect-sink.js';
import { readFileMapping } from '../operations/drafts/read-file-mapping.js';
import { maxMappingCharacters } from '../operations/drafts/load-mapping.js';
import { removeDraft } from '../ledger/configuration-drafts.js';
import { draftSchema, draftsSchema, fileMappingSchema, saveMappingSchema } from '../operations/drafts/draft-views.js';
import { triedMappingSchema, tryRequestSchema, tryMapping } from '../operations/drafts/try-mapping.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { rolesWith } from './authenticate.js';
import { usable } from './configuration.js';
import type { AllPlaces } from './places.js';
import { Refused } from './problem.js';
import { answers, jsonBody, needs, personalSchema, withIsoInstants } from './route-parts.js';
import { requireEveryWorkspace, sinkTarget, wantsPersonal } from './scope.js';
import { ShownBefore } from './shown-before.js';

const ofSink = z.strictObject({ sink: configuredName() });
/** A character of YAML takes up to six bytes in JSON. */
const largestBytes = 12 * maxMappingCharacters;

export const mappingRoute = createRoute({
  method: 'get',
  path: '/api/configuration/mappings/{sink}',
  operationId: 'readMapping',
  tags: ['Configuration'],
  summary: 'Read the mapping of a sink in the configuration file, and its draft',
  ...needs({ right: 'operate' }),
  request: { params: ofSink },
  responses: answers('The mapping.', fileMappingSchema, 404, 409),
});

export const tryMappingRoute = createRoute({
  method: 'post',
  path: '/api/configuration/mappings/{sink}/try',
  operationId: 'tryMapping',
  tags: ['Configuration'],
  summary: 'Try a mapping with stored items; sends and changes nothing',
  ...needs({
    right: 'operate',
    largestBytes,
    looksLike: 'this takes "text" (the mapping, or null) and "item" (or null)',
  }),
  request: { params: ofSink, query: z.strictObject({ personal: personalSchema }), body: jsonBody(tryRequestSchema) },
  responses: answers('Mistakes, counts, and the calls for one item.', triedMappingSchema, 404, 409, 413, 415, 422),
});

export const saveMappingRoute = createRoute({
  method: 'post',
  path: '/api/configuration/mappings/{sink}/draft',
  operationId: 'saveMapping',
  tags: ['Configuration'],
  summary: 'Save another mapping of a sink as a draft; the file stays as it is',
  ...needs({
    right: 'operate',
    largestBytes,
    looksLike: 'a draft has "text", "base" and "replaces" (a version, or null)',
  }),
  request: { params: ofSink, body: jsonBody(saveMappingSchema) },
  responses: answers('The draft.', draftSchema, 404, 409, 413, 415, 422),
});

export const draftsRoute = createRoute({
  method: 'get',
  path: '/api/configuration/drafts',
  operationId: 'listDrafts',
  tags: ['Configuration'],
  summary: 'List the drafts that the configuration file does not contain',
  ...needs({ right: 'operate' }),
  responses: answers('The drafts.', draftsSchema),
});

export const connectRoute = createRoute({
  method: 'get',
  path: '/api/configuration/connect',
  operationId: 'listSinkForms',
  tags: ['Configuration'],
  summary: 'List what each sink type needs to be connected',
  ...needs({ right: 'administer' }),
  responses: answers('The forms of all sink types.', sinkFormsSchema),
});

export const tryConnectRoute = createRoute({
  method: 'post',
  path: '/api/configuration/connect/try',
  operationId: 'trySink',
  tags: ['Configuration'],
  summary:
    'Check a new sink, list the choices of its destination, and try it with stored items; sends and changes nothing',
  ...needs({ right: 'administer', looksLike: 'this takes "type", "name", "sync" and "given"' }),
  request: { query: z.strictObject({ personal: personalSchema }), body: jsonBody(connectRequestSchema) },
  responses: answers('What is missing, and what the sink would do.', triedSinkSchema, 404, 409, 413, 415, 422),
});

export const saveConnectRoute = createRoute({
  method: 'post',
  path: '/api/configuration/connect/draft',
  operationId: 'saveSink',
  tags: ['Configuration'],
  summary: 'Save a new sink as a draft; the file stays as it is',
  ...needs({ right: 'administer', looksLike: 'this takes "type", "name", "sync", "given" and "replaces"' }),
  request: {
    body: jsonBody(z.strictObject({ ...connectRequestSchema.shape, replaces: saveMappingSchema.shape.replaces })),
  },
  responses: answers('The draft.', draftSchema, 404, 409, 413, 415, 422),
});

const versionSchema = z.strictObject({ version: z.int().describe('The version that the caller has seen.') });

export const discardDraftRoute = createRoute({
  method: 'post',
  path: '/api/configuration/drafts/{sink}/discard',
  operationId: 'discardDraft',
  tags: ['Configuration'],
  summary: 'Discard a draft',
  ...needs({ right: 'operate', looksLike: 'this takes "version"' }),
  request: { params: ofSink, body: jsonBody(versionSchema) },
  responses: answers('It is discarded.', z.object({ discarded: z.literal(true) }), 409, 413, 415),
});

export const applyDraftRoute = createRoute({
  method: 'post',
  path: '/api/configuration/drafts/{sink}/apply',
  operationId: 'applyDraft',
  tags: ['Configuration'],
  summary: 'Write a draft into the configuration file, with its comments kept, and apply the file',
  ...needs({ right: 'administer', looksLike: 'this takes "version"' }),
  request: { params: ofSink, body: jsonBody(versionSchema) },
  responses: answers('The changes that were made.', appliedConfigurationSchema, 404, 409, 413, 415, 422),
});

export function serveDrafts(app: ApiApp, sources: ApiSources, { plans }: AllPlaces): void {
  const { ledger } = sources;
  const shows = new ShownBefore();
  app.openapi(mappingRoute, async (c) => {
    const { sink } = c.req.valid('param');
    requireEveryWorkspace(c);
    const found = await readFileMapping(sources, sink);
    if ('unknown' in found) throw new Refused(404, found.unknown);
    return c.json({ ...found, draft: found.draft && withIsoInstants(found.draft) }, 200);
  });
  app.openapi(tryMappingRoute, async (c) => {
    const { sink } = c.req.valid('param');
    const asked = c.req.valid('json');
    requireEveryWorkspace(c);
    const personal = wantsPersonal(c, c.req.valid('query').personal);
    if (asked.text !== null) requireAuthor(c);
    const run = async () => {
      const tried = await plans.in(() => usable(() => tryMapping(sources, sink, asked, { personal })));
      if ('unknown' in tried) throw new Refused(404, tried.unknown);
      return tried;
    };
    if (!personal) return c.json(await run(), 200);
    const entry = {
      action: 'preview-personal',
      target: sinkTarget(sources, sink),
      detail: {
        pigeonhole: asked.item && `${asked.item.workspace}/${asked.item.pigeonholeId}`,
        list: asked.item?.list ?? null,
        oneItem: asked.item !== null,
      },
    };
    const record = () => audited(c, ledger, entry, run);
    return c.json(await shows.run(shownTo(c, sink, asked.item), { record, repeat: run }), 200);
  });
  app.openapi(saveMappingRoute, async (c) => {
    const { sink } = c.req.valid('param');
    const asked = c.req.valid('json');
    requireEveryWorkspace(c);
    requireAuthor(c);
    const entry = { action: 'save-draft', target: sinkTarget(sources, sink) };
    const saved = await audited(c, ledger, entry, () =>
      plans.in(() => usable(() => saveMappingDraft(sources, { ...asked, sink, by: c.get('caller').name }))),
    );
    return c.json(withIsoInstants(saved), 200);
  });
  app.openapi(connectRoute, async (c) => {
    requireEveryWorkspace(c);
    return c.json(await listSinkForms(sources), 200);
  });
  app.openapi(tryConnectRoute, async (c) => {
    const asked = c.req.valid('json');
    requireEveryWorkspace(c);
    const personal = wantsPersonal(c, c.req.valid('query').personal);
    const run = () => plans.in(() => usable(() => trySink(sources, asked, { personal })));
    const entry = { action: personal ? 'preview-personal' : 'try-sink', target: null, detail: { type: asked.type } };
    const record = () => audited(c, ledger, entry, run);
    // Each event whose people are shown, and each address to which a secret is sent.
    const { type, sync, given } = asked;
    const addresses = Object.values(given).filter((text) => text.startsWith('https://'));
    return c.json(await shows.run(shownTo(c, type, sync, personal, addresses), { record, repeat: run }), 200);
  });
  app.openapi(saveConnectRoute, async (c) => {
    const { replaces, ...asked } = c.req.valid('json');
    requireEveryWorkspace(c);
    const entry = { action: 'save-draft', target: null, detail: { type: asked.type } };
    const saved = await audited(c, ledger, entry, () =>
      plans.in(() => usable(() => saveSinkDraft(sources, asked, { by: c.get('caller').name, replaces }))),
    );
    return c.json(withIsoInstants(saved), 200);
  });
  app.openapi(draftsRoute, async (c) => {
    requireEveryWorkspace(c);
    const { drafts, writable } = await listDrafts(sources);
    return c.json({ drafts: drafts.map(withIsoInstants), writable, file: sources.config.file }, 200);
  });
  app.openapi(discardDraftRoute, async (c) => {
    const { sink } = c.req.valid('param');
    const { version } = c.req.valid('json');
    requireEveryWorkspace(c);
    await audited(c, ledger, { action: 'discard-draft', target: sinkTarget(sources, sink) }, async () => {
      if (await removeDraft(ledger, sink, version)) return;
      throw new Refused(
        409,
        `the draft of sink ${sink} was saved again, applied or discarded meanwhile: load it again`,
      );
    });
    return c.json({ discarded: true as const }, 200);
  });
  app.openapi(applyDraftRoute, async (c) => {
    const { sink } = c.req.valid('param');
    const { version } = c.req.valid('json');
    requireEveryWorkspace(c);
    const entry = { action: 'apply-draft', target: sinkTarget(sources, sink) };
    const applied = await audited(c, ledger, entry, () =>
      plans.in(() =>
        usable(() =>
          applyDraft(sources, { sink, version }, { apply: () => sources.applyConfiguration(c.get('caller').name) }),
        ),
      ),
    );
    return c.json(applied, 200);
  });
}

/**
 * Checks that the caller may try a mapping of their own. Its counts tell whether people have a property, so the caller
 * needs the right to personal data.
 * @throws {Refused} 403
 */
function requireAuthor(c: ApiContext): void {
  if (c.get('caller').rights.has('personal')) return;
  const roles = rolesWith('personal').join(' or ');
  throw new Refused(403, `writing a mapping also requires the role ${roles}, because its counts tell about people`);
}

/** Returns the kind of a request that shows something to its caller. */
function shownTo(c: ApiContext, ...what: readonly unknown[]): string {
  const { name, token } = c.get('caller');
  return JSON.stringify([name, token, ...what]);
}
