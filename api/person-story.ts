import { createRoute, z } from '@hono/zod-openapi';
import { changeSentence, changeWords } from '../base/change-words.js';
import { outcomeText } from '../base/delivery-words.js';
import { configuredName, idText, instant } from '../base/printable.js';
import { heldRecord } from '../operations/person/held-record.js';
import { personStory } from '../operations/person/person-story.js';
import { causeText, reasonText } from '../sinks/reason-words.js';
import type { ApiApp, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { itemNameSchema } from './item-names.js';
import { requirePigeonholeNumber } from './pigeonholes.js';
import { Refused } from './problem.js';
import { answers, needs } from './route-parts.js';
import { workspaceOf } from './scope.js';
import { explain, type Why, whySinkSchema } from './why.js';

const itemsAtSinkSchema = z.object({
  list: z.string(),
  state: z.string(),
  outcome: z.string().describe('The state in words.'),
  reason: z.string().nullable(),
  words: z.string().nullable().describe('The reason in words.'),
  identity: z.boolean().nullable().describe("Whether they were sent with the person's identity."),
  items: z.int(),
});

const destinationSchema = z.object({
  sink: z.string(),
  type: z.string().nullable().describe('Null: the sink is no longer configured.'),
  record: whySinkSchema.describe("What became of the latest revision of the person's record."),
  holds: z
    .object({ revision: z.int(), at: instant().nullable() })
    .nullable()
    .describe("The revision of the person's record that the sink received last; null: it holds none."),
  items: z.array(itemsAtSinkSchema).readonly().describe('The other items of the person, counted.'),
});
export type DestinationView = z.infer<typeof destinationSchema>;

const deedSchema = z.object({
  list: z.string(),
  key: z.string(),
  revision: z.int(),
  deleted: z.boolean(),
  sessionId: z.int().nullable(),
  at: instant().nullable().describe('When it was done, as the service says.'),
  changedAt: instant(),
  name: itemNameSchema,
  sentence: z.string().describe('What the person did, in words.'),
});

const storySchema = z
  .object({
    workspace: z.string(),
    pigeonholeId: z.int(),
    attendeeId: z.int(),
    name: z.string().nullable(),
    event: z.string().nullable().describe('Title of the event.'),
    profile: z.record(z.string(), z.unknown()).nullable().describe('Their record; null: deleted, or expired.'),
    deleted: z.boolean().describe('Whether the service has deleted the record.'),
    revision: z.int(),
    codes: z.array(z.string()).readonly(),
    addresses: z.array(z.string()).readonly(),
    consent: z
      .array(z.object({ consent: z.string(), foundAt: instant(), obtainedAt: instant().nullable() }))
      .readonly()
      .describe('Oldest first, as far as the revisions are still stored; the last one is in force.'),
    elsewhere: z
      .array(
        z.object({
          workspace: z.string(),
          pigeonholeId: z.int(),
          attendeeId: z.int(),
          event: z.string().nullable(),
        }),
      )
      .readonly()
      .describe('Attendees with the same code or e-mail address.'),
    destinations: z.array(destinationSchema).readonly(),
    deeds: z.array(deedSchema).readonly().describe('What the person did, without anonymous items; newest first.'),
    moreDeeds: z.boolean().describe('There are older ones; an export has them.'),
    importRows: z
      .array(
        z.object({
          import: z.int(),
          row: z.int(),
          outcome: z.string().nullable(),
          field: z.string().nullable(),
          message: z.string().nullable(),
        }),
      )
      .readonly(),
  })
  .openapi('PersonStory');
export type PersonStoryView = z.infer<typeof storySchema>;

export const storyRoute = createRoute({
  method: 'get',
  path: '/api/persons/{workspace}/{id}/{attendee}',
  operationId: 'showPerson',
  tags: ['Privacy'],
  summary: 'Show an attendee: what they did, what each sink holds about them and why not, and their consent',
  description: 'The ID of an attendee is the only name of a person that may be in an address. The request is audited.',
  ...needs({ right: 'personal' }),
  request: {
    params: z.object({ workspace: configuredName(), id: idText(), attendee: idText() }),
  },
  responses: answers('The story of the person.', storySchema, 404),
});

export function servePersonStory(app: ApiApp, sources: Pick<ApiSources, 'ledger' | 'config'>): void {
  const { ledger, config } = sources;
  app.openapi(storyRoute, async (c) => {
    const { workspace, id, attendee } = c.req.valid('param');
    const pigeonholeNumber = await requirePigeonholeNumber(c, sources, { workspace, id });
    const [pigeonholeId, attendeeId] = [Number(id), Number(attendee)];
    const entry = {
      action: 'show-person',
      target: `pigeonhole:${workspace}/${pigeonholeId}`,
      subject: ledger.hash.subject(workspace, attendeeId, 'named'),
    };
    const story = await audited(c, ledger, entry, async () => {
      const asked = { workspace, pigeonholeId, pigeonholeNumber, attendeeId, within: workspaceOf(c) };
      const found = await personStory(ledger, asked);
      const pigeonhole = `${workspace}/${pigeonholeId}`;
      const [why] = await explain(ledger, { list: 'attendees', key: String(attendeeId), pigeonhole });
      if (found === undefined || why === undefined) {
        throw new Refused(404, 'no attendee of this event has this id, or the person was forgotten');
      }
      return { ...found, destinations: destinationsOf(why, found.held, config.sinks) };
    });
    const { held: _, deeds, importRows, ...rest } = story;
    return c.json(
      {
        workspace,
        pigeonholeId,
        attendeeId,
        ...rest,
        deeds: deeds.map((deed) => ({ ...deed, sentence: sentenceOf(deed, story.name) })),
        importRows: importRows.map(({ import: number, row, outcome, field, message }) => ({
          import: number,
          row,
          outcome,
          field,
          message,
        })),
      },
      200,
    );
  });
}

type Story = NonNullable<Awaited<ReturnType<typeof personStory>>>;

function sentenceOf({ list, deleted, name }: Story['deeds'][number], person: string | null): string {
  const kind = deleted ? 'deleted' : 'created';
  return changeSentence(
    changeWords({ list, kind, visibility: 'named', name: { ...name, person: name.person ?? person } }),
  );
}

/** Joins what is known of the person's record with the counts of their other items, by sink. */
function destinationsOf(
  why: Why,
  held: Story['held'],
  sinks: Readonly<Record<string, { readonly type: string }>>,
): DestinationView[] {
  const latest = why.revisions.at(-1)?.sinks ?? [];
  const own = new Map(latest.map((entry) => [entry.sink, entry])); // the last entry of a sink is that of its newest replay
  return [...own.values()].map((record) => ({
    sink: record.sink,
    type: sinks[record.sink]?.type ?? null,
    record,
    holds: heldRecord(why.revisions, record.sink),
    items: held
      .filter(({ sink }) => sink === record.sink)
      .map(({ sink: _, ...row }) => ({
        ...row,
        outcome: outcomeText({ ...row, replay: null }),
        words: wordsOf(row),
      })),
  }));
}

function wordsOf({ state, reason }: { readonly state: string; readonly reason: string | null }): string | null {
  if (reason === null || reason === 'by-replay') return null;
  return state === 'dead' ? causeText(reason).meaning : reasonText(reason);
}
