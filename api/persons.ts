import { createRoute, z } from '@hono/zod-openapi';
import type { Ledger } from '../ledger/ledger.js';
import { exportPerson } from '../people/export-person.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audit-log.js';
import { Refused } from './problem.js';
import { configuredName, instant } from '../base/printable.js';
import { answers, jsonBody, needs } from './route-parts.js';
import { workspaceOf } from './scope.js';
import { findPerson, type PersonPlace, waysToName, whyNameless } from '../people/find-person.js';

/** Identifies a person. It is in the body of a request because proxies log addresses. */
export const personText = z
  .string()
  .max(400)
  .regex(/\S/, { error: 'must not be empty' })
  .trim()
  .describe(
    'ID of an attendee, attendee code or e-mail address; `id:42`, `code:42` or `email:…` if it could mean two of them.',
  );

/** Restricts a request about a person to one workspace, because ids are unique only within it. */
export const personWorkspace = configuredName()
  .optional()
  .describe('Only people of this workspace; without it, of all that the token may see.');

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
                identity: z.boolean().nullable().describe("Whether it was sent with the person's identity."),
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
      .describe('Requests for the data of this person. Lists that showed many people are in the audit log only.'),
    notListed: z.string(),
  })
  .openapi('StoredPerson');

export const exportRoute = createRoute({
  method: 'post',
  path: '/api/persons/export',
  operationId: 'exportPerson',
  tags: ['Privacy'],
  summary: 'Show everything stored about a person, and where it was sent',
  ...needs({ right: 'personal', looksLike: 'this takes "attendee": an id, a code or an e-mail address' }),
  request: { body: jsonBody(z.strictObject({ attendee: personText, workspace: personWorkspace })) },
  responses: answers('The data of the person.', personSchema, 404, 409, 413, 415),
});

const notListed =
  "The person's anonymous items are not listed, because nobody may see whose they are. Forgetting the person removes them as well.";

export function servePersons(app: ApiApp, { ledger }: { readonly ledger: Ledger }): void {
  app.openapi(exportRoute, async (c) => {
    const { attendee, workspace } = c.req.valid('json');
    const places = await namedPerson(ledger, attendee, workspaceOf(c, workspace));
    const [first] = places;
    const id = first?.attendeeIds[0];
    const subject = first === undefined || id === undefined ? null : ledger.hash.subject(first.workspace, id, 'named');
    const person = await audited(c, ledger, { action: 'export-person', target: null, subject }, async () => {
      if (first === undefined) {
        throw new Refused(
          404,
          'no person has this id, code or e-mail address: "pigeonpost status" shows what has been read',
        );
      }
      return await exportPerson(ledger, places, attendee);
    });
    const people = places.map(({ pigeonholeNumber: _, ...each }) => each);
    return c.json({ exportedAt: new Date().toISOString(), people, ...person, notListed }, 200);
  });
}

/**
 * Returns all people whom a text may mean; empty if nobody is known by it.
 * @throws {Refused} 400 if it can be the name of nobody, 409 if it is the ID of one person and the code of another
 */
export async function namedPerson(ledger: Ledger, text: string, workspace: string | null): Promise<PersonPlace[]> {
  const why = whyNameless(text);
  if (why !== undefined) throw new Refused(400, why);
  const found: PersonPlace[][] = [];
  for (const way of waysToName(text)) {
    const places = await findPerson(ledger, { ...way, workspace });
    if (places.length > 0 && !found.some((other) => isSame(other, places))) found.push(places);
  }
  if (found.length > 1) {
    throw new Refused(409, 'this is the id of one person and the code of another: write it as id:… or as code:…');
  }
  return found[0] ?? [];
}

function isSame(a: readonly PersonPlace[], b: readonly PersonPlace[]): boolean {
  const told = (places: readonly PersonPlace[]): string =>
    JSON.stringify(
      places
        .map(({ pigeonholeNumber, attendeeIds }) => [pigeonholeNumber, [...attendeeIds].toSorted((x, y) => x - y)])
        .toSorted((x, y) => Number(x[0]) - Number(y[0])),
    );
  return told(a) === told(b);
}
