import { createRoute, z } from '@hono/zod-openapi';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import { exportedPlace } from '../operations/export/exported-place.js';
import { mediaTypes, shownByDefault, writeDeadLetters, writeExport } from '../operations/export/export-sheets.js';
import {
  deadLettersFileName,
  exportFileName,
  type ExportFormat,
  exportFormats,
  hasSheet,
  type SheetName,
  sheetNames,
} from '../base/sheets/sheet-names.js';
import { configuredName } from '../base/printable.js';
import type { RequestedAction } from '../ledger/audit.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { rolesWith } from './authenticate.js';
import { auditedCause, deadLetterChoiceSchema } from './dead-letters.js';
import { placeParams, requirePigeonholeNumber } from './pigeonholes.js';
import type { AllPlaces, Places } from './places.js';
import { Refused } from './problem.js';
import { needs, personalSchema, problems, streamOf } from './route-parts.js';
import { notKnown, seesSink, sinkTarget, wantsPersonal, workspaceOf } from './scope.js';

export const exportRoute = createRoute({
  method: 'get',
  path: '/api/exports/{workspace}/{id}',
  operationId: 'exportSheets',
  tags: ['Items'],
  summary: 'Download tables of a pigeonhole as CSV or as an Excel workbook (XLSX) with a sheet for each table',
  description:
    'Each export is audited. Without `personal`, items have only their keys and states, and rows of imports only their outcomes. Rows of imports need the right `import`. A response that ends early is not a complete file.',
  ...needs({
    right: 'read',
    looksLike: `an export has "sheets" (all, or names such as attendees,questions) and "format" (${exportFormats.join(' or ')}), and may have "personal" (1)`,
  }),
  request: {
    params: placeParams,
    query: z.strictObject({
      sheets: z
        .string()
        .max(500)
        .regex(/^[a-z_-]+(?:,[a-z_-]+)*$/, { error: 'write "all", or names of tables separated by commas' })
        .default('all')
        .describe(`Names of tables, separated by commas, or \`all\`: ${sheetNames.join(', ')}. CSV holds one.`),
      format: z.enum(exportFormats),
      personal: personalSchema,
    }),
  },
  responses: {
    200: {
      description: 'The file, written while it is read from the ledger.',
      content: { 'text/csv': { schema: z.string() }, [mediaTypes.xlsx]: { schema: z.string() } },
    },
    ...problems(404),
  },
});

export const deadLettersRoute = createRoute({
  method: 'get',
  path: '/api/dead-letters/file',
  operationId: 'exportDeadLetters',
  tags: ['Dead letters'],
  summary: 'Download the dead letters of a sink as CSV or as an Excel workbook (XLSX)',
  description:
    'Each export is audited. The table has keys, causes and times, and no data of items. A response that ends early is not a complete file.',
  ...needs({
    right: 'read',
    looksLike: `an export of dead letters has "sink" and "format" (${exportFormats.join(' or ')}), and may have "cause", "list" and "pigeonhole"`,
  }),
  request: {
    query: deadLetterChoiceSchema
      .omit({ key: true, workspace: true })
      .extend({ sink: configuredName(), format: z.enum(exportFormats) }),
  },
  responses: exportRoute.responses,
});

/** `GET /api/exports/…`: tables of a pigeonhole for spreadsheets; `GET /api/dead-letters/file`: those of a sink. */
export function serveExports(app: ApiApp, sources: ApiSources, places: Pick<AllPlaces, 'exports'>): void {
  const { ledger } = sources;
  app.openapi(exportRoute, async (c) => {
    const { workspace, id } = c.req.valid('param');
    const { sheets: asked, format, personal } = c.req.valid('query');
    const shows = wantsPersonal(c, personal);
    const pigeonholeId = Number(id);
    const sheets = chosenSheets(c, { workspace, pigeonholeId }, asked);
    if (format === 'csv' && sheets.length > 1) {
      throw new Refused(400, 'a CSV file holds one table: name one in "sheets", or choose the format xlsx');
    }
    const pigeonholeNumber = await requirePigeonholeNumber(c, sources, { workspace, id });
    const place = await exportedPlace(ledger, { pigeonholeNumber, workspace, pigeonholeId });
    const request = { place, sheets, format, personal: shows, accepts: shownByDefault };
    return await fileAnswer(c, {
      name: exportFileName(request),
      format,
      target: `pigeonhole:${workspace}/${id}`,
      detail: { sheets: sheets.join(','), format, personal: shows },
      parts: () => writeExport(sources, request),
    });
  });
  app.openapi(deadLettersRoute, async (c) => {
    const { format, sink, cause, list, pigeonhole = null } = c.req.valid('query');
    if (!Object.hasOwn(sources.config.sinks, sink) || !seesSink(c, sources, sink)) {
      throw notKnown(c, sources, { kind: 'sink', name: sink });
    }
    const place = pigeonhole === null ? null : await knownPlace(c, pigeonhole);
    const workspace = workspaceOf(c) ?? undefined;
    return await fileAnswer(c, {
      name: deadLettersFileName({ sink, pigeonhole }, format),
      format,
      target: sinkTarget(sources, sink),
      detail: {
        sheets: 'dead-letters',
        format,
        personal: false,
        pigeonhole,
        list: list ?? null,
        cause: auditedCause(cause),
      },
      parts: () => writeDeadLetters(sources, { sink, cause, list, workspace, place }, format),
    });
  });

  async function knownPlace(c: ApiContext, pigeonhole: string): Promise<PigeonholeName> {
    const [workspace = '', id = ''] = pigeonhole.split('/');
    await requirePigeonholeNumber(c, sources, { workspace, id });
    return { workspace, pigeonholeId: Number(id) };
  }

  async function fileAnswer(c: ApiContext, file: ExportedFile): Promise<never> {
    const { name, format, target, detail, parts } = file;
    const headers = {
      'content-type': mediaTypes[format],
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
    };
    if (c.req.method === 'HEAD') return new Response(null, { headers }) as never;
    // An export that cannot begin is refused with a problem. Later, only the end of the connection can say so.
    const entry = { action: 'export', target, detail };
    const bytes = await audited(c, ledger, entry, async () => await begun(inTurn(parts(), places.exports)));
    return new Response(streamOf(bytes), { headers }) as never;
  }
}

interface ExportedFile {
  readonly name: string;
  readonly format: ExportFormat;
  /** Target and details of the entry in the audit log. */
  readonly target: string;
  readonly detail: RequestedAction['detail'];
  readonly parts: () => Parts;
}

/** @throws {Refused} 400 for an unknown table, 403 if the caller may not see one that is named */
function chosenSheets(c: ApiContext, place: PigeonholeName, asked: string): SheetName[] {
  const mayImport = c.get('caller').rights.has('import');
  const available = sheetNames.filter((name) => hasSheet(place, name));
  if (asked === 'all') return available.filter((name) => name !== 'import-rows' || mayImport);
  return [...new Set(asked.split(','))].map((word) => {
    const name = available.find((each) => each === word);
    if (name === undefined) {
      const known = (sheetNames as readonly string[]).includes(word);
      const where =
        place.pigeonholeId === 0
          ? 'is a table of pigeonholes'
          : `is a table of the workspace: export ${place.workspace}/0`;
      throw new Refused(400, known ? `${word} ${where}` : `the tables are ${available.join(', ')}`, {
        faults: [{ in: 'query', at: 'sheets', problem: 'unknown table' }],
      });
    }
    if (name === 'import-rows' && !mayImport) {
      throw new Refused(403, `the rows of imports need the role ${rolesWith('import').join(' or ')}`);
    }
    return name;
  });
}

type Parts = AsyncGenerator<string | Uint8Array, void, undefined>;

/**
 * Reads each part of an export in a place of its own, so that exports together take a bounded share of the store, and one
 * whose reader is slow holds no place.
 */
async function* inTurn(parts: Parts, places: Places): Parts {
  try {
    for (;;) {
      const next = await places.in(() => parts.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await parts.return();
  }
}

/** Reads the first part. */
async function begun(parts: Parts): Promise<Parts> {
  const first = await parts.next();
  return (async function* () {
    try {
      if (first.done === true) return;
      yield first.value;
      yield* parts;
    } finally {
      await parts.return();
    }
  })();
}
