import { createRoute, z } from '@hono/zod-openapi';
import type { Ledger } from '../ledger/ledger.js';
import { exportPerson } from '../people/forget/export-person.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audited.js';
import { namedPerson, personText } from './person-name.js';
import { Refused } from './problem.js';
import { instant, jsonAnswer, jsonBody, needs, problems } from './route-parts.js';
import { workspaceOf } from './scope.js';

const fields = z.record(z.string(), z.unknown());
const place = { workspace: z.string(), pigeonholeId: z.int() };

const personSchema = z
  .object({
    exportedAt: instant(),
    people: z.array(
      z.object({ ...place, attendeeIds: z.array(z.int()).readonly(), codes: z.array(z.string()).readonly() }),
    ),
    items: z
      .array(
        z.object({
          ...place,
          list: z.string(),
          key: z.string(),
          revision: z.int(),
          deleted: z.boolean(),
          data: fields.nullable(),
          earlier: z.array(z.object({ revision: z.int(), foundAt: instant(), data: fields })).readonly(),
          sent: z
            .array(
              z.object({
                sink: z.string(),
                revision: z.int(),
                state: z.string(),
                reason: z.string().nullable(),
                identity: z.boolean().nullable().describe('Whether it went out with the person.'),
                at: instant(),
              }),
            )
            .readonly(),
        }),
      )
      .readonly(),
    importRows: z
      .array(
        z.object({
          ...place,
          import: z.int(),
          row: z.int(),
          profile: fields,
          outcome: z.string().nullable(),
          field: z.string().nullable(),
          message: z.string().nullable(),
        }),
      )
      .readonly(),
    looks: z
      .array(z.object({ at: instant(), who: z.string().nullable(), action: z.string().nullable() }))
      .readonly()
      .describe('Who has looked at what is stored of them.'),
    notListed: z.string(),
  })
  .openapi('StoredPerson');
export type PersonView = z.infer<typeof personSchema>;

const exportRoute = createRoute({
  method: 'post',
  path: '/api/persons/export',
  operationId: 'exportPerson',
  tags: ['Privacy'],
  summary: 'Everything that is stored of a person by name, and where it was sent',
  ...needs({ right: 'personal', looksLike: 'this takes "attendee": an id, a code or an e-mail address' }),
  request: { body: jsonBody(z.strictObject({ attendee: personText })) },
  responses: { 200: jsonAnswer('For the person who asks for it.', personSchema), ...problems(404, 409, 413, 415) },
});

const notListed =
  'What the person did anonymously is not listed, as nobody is shown whose that is; forgetting them removes it as well.';

/** `POST /api/persons/export`. */
export function servePersons(app: ApiApp, { ledger }: { readonly ledger: Ledger }): void {
  app.openapi(exportRoute, async (c) => {
    const { attendee } = c.req.valid('json');
    const places = await namedPerson(ledger, attendee, workspaceOf(c));
    const [first] = places;
    const id = first?.attendeeIds[0];
    const subject = first === undefined || id === undefined ? null : ledger.hash.subject(first.workspace, id, 'named');
    const person = await audited(c, ledger, { action: 'export-person', target: null, subject }, async () => {
      if (first === undefined) {
        throw new Refused(
          404,
          'nobody is known by this id, code or e-mail address; "pigeonpost status" shows what has been read',
        );
      }
      return await exportPerson(ledger, places);
    });
    const people = places.map(({ ref: _, ...each }) => each);
    return c.json({ exportedAt: new Date().toISOString(), people, ...person, notListed }, 200);
  });
}
