import { z } from 'zod';
import {
  day,
  duration,
  identifier,
  interval,
  listOf,
  namedGroup,
  nonEmptyText,
  oneOf,
  percent,
  regularExpression,
  wholeNumber,
} from '../values.js';
import { listNames } from '../../base/lists.js';

const pigeonholeIds = listOf(identifier(), { allowed: 'a list of pigeonhole ids' });

/** A pigeonhole must match all filters given. Once found, it is read until it is over, even if its status changes. */
const pigeonholeFilters = z.strictObject({
  status: listOf(oneOf(['new', 'upcoming', 'live', 'ended']), { allowed: 'a list of new, upcoming, live, ended' })
    .optional()
    .describe('Only pigeonholes found in one of these states; all by default.'),
  name: regularExpression()
    .optional()
    .describe('Only pigeonholes whose name matches this JavaScript regular expression.'),
  startsAfter: day().optional().describe('Only pigeonholes whose `startDate` is this day or a later one.'),
  exclude: listOf(identifier(), { allowed: 'a list of pigeonhole ids', atLeast: 0 })
    .optional()
    .describe('Ids of pigeonholes that are left out.'),
});

const everySchema = z
  .strictObject({
    // Has no default here, because only the default interval slows down while nothing changes. An interval that the
    // file sets does not.
    live: interval()
      .optional()
      .meta({ shownDefault: '5s' })
      .describe(
        'Polling interval of the lists of a live pigeonhole. If you set it, it also applies outside session times (10 min before a session to 30 min after it). Otherwise, lists slow down to 5m at those times while nothing changes.',
      ),
    quiet: interval()
      .optional()
      .describe(
        'Longest polling interval of a live pigeonhole outside session times. The interval starts at `live` and doubles after each read that finds nothing. The default is `live` if you set that, otherwise 5m.',
      ),
    new: interval().prefault('1h').describe('Polling interval of pigeonholes in status `new`.'),
    upcoming: interval().prefault('5m').describe('Polling interval of pigeonholes in status `upcoming`.'),
    ended: interval()
      .optional()
      .meta({ shownDefault: '6h' })
      .describe(
        'Polling interval of pigeonholes in status `ended`, until the last sweep a week after the end. If you do not set it, the interval doubles up to 1d while nothing changes.',
      ),
    sweep: interval()
      .prefault('30m')
      .describe('Time between two sweeps, which read a whole list to find edits and deletions.'),
    lists: z
      .partialRecord(z.enum(listNames), interval(), { error: 'allowed: a group of lists, each with a duration' })
      .prefault({})
      .describe('Polling intervals of single lists while they are live, instead of `live`, such as `votes: 15s`.'),
  })
  .transform(({ live, quiet = live, ended, ...every }) => ({
    live: live ?? 5000,
    ...(quiet === undefined ? {} : { quiet }),
    ended: ended ?? 6 * 3_600_000,
    ...(ended === undefined ? {} : { longestEnded: ended }),
    ...every,
  }))
  .prefault({})
  .describe('Polling intervals, from 1s to 30d. If the request quota is short, pigeonpost lengthens them.');

const deletionsSchema = z
  .strictObject({
    settle: duration()
      .prefault('24h')
      .describe(
        'If nothing else proves a deletion: minimum time during which every sweep must lack the item and show the same other items, in the same order or in at least four sweeps.',
      ),
    confirm: duration()
      .prefault('30s')
      .describe(
        'If more than 3 % of a list disappear, minimum time before the second request that must lack these items as well. A single question that leaves a live list is confirmed immediately.',
      ),
    holdAbove: z
      .strictObject({
        share: percent().prefault('5%').describe('Share of the items of a list.'),
        items: wholeNumber({ min: 0, max: 1_000_000_000, unit: 'items' })
          .prefault(50)
          .describe('Number of items of a list.'),
      })
      .prefault({})
      .describe(
        'Deletions that exceed both limits wait until an operator confirms or rejects them. So do, whatever their number, all items of a list, and at least a third of two lists of a pigeonhole. A share of 100 % turns this off.',
      ),
  })
  .transform(({ settle, confirm, holdAbove }) => ({ settleMs: settle, confirmMs: confirm, holdAbove }))
  .prefault({})
  .describe('When a missing item counts as deleted.');

const dropSchema = z
  .partialRecord(
    z.enum(listNames),
    listOf(
      nonEmptyText('the name of a field').refine((field) => field !== 'id', {
        error: 'allowed: any field except id, which identifies items',
      }),
      { allowed: 'a list of field names' },
    ),
    { error: 'allowed: a group of lists, each with the fields to drop' },
  )
  .prefault({})
  .describe(
    "Fields of items that pigeonpost does not store, by list, e.g. `attendees: [linkedIn]`. Names are those of the service, at an item's top level. Rows of imported files keep all their fields.",
  );

/** `syncs`: what is read and where it goes. */
export const syncsSchema = namedGroup(
  'sync',
  z
    .strictObject({
      workspace: z
        .string({ error: 'allowed: the name of a workspace' })
        .meta({ allowed: 'the name of a workspace' })
        .describe('The workspace to read from.'),
      pigeonholes: z
        .union([pigeonholeIds, pigeonholeFilters], {
          error: 'allowed: a list of pigeonhole ids, or a group of filters',
        })
        .transform((found) => (Array.isArray(found) ? { ids: found } : found))
        .prefault({})
        .meta({ allowed: 'a list of ids such as `[101, 102]`, or filters' })
        .describe('The pigeonholes to read: by id, or discovered by filters. By default all of the workspace.'),
      lists: z
        .union([z.literal('auto'), listOf(z.enum(listNames), { allowed: 'a list of list names' })], {
          error: `allowed: auto, or a list of ${listNames.join(', ')}`,
        })
        .prefault('auto')
        .meta({ allowed: `\`auto\`, or a list of ${listNames.join(', ')}` })
        .describe('The lists to read; `auto` reads what the sinks and the joins need.'),
      every: everySchema,
      deletions: deletionsSchema,
      drop: dropSchema,
      sinks: listOf(z.string({ error: 'allowed: the name of a sink' }), {
        allowed: 'a list of names of sinks',
      }).describe('The sinks that receive the changes.'),
    })
    .transform(({ every, ...sync }) => ({ ...sync, everyMs: every }))
    .describe('A sync under a name of your choice.'),
).describe('What is read and where it goes. A pigeonhole that several syncs name is read once.');
