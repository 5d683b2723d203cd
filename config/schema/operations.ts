import { z } from 'zod';
import {
  signingSecret,
  baseUrl,
  duration,
  folder,
  headerSecret,
  identifier,
  nonEmptyText,
  regularExpression,
  secret,
  wholeNumber,
} from '../values.js';
import { listsWhere } from '../../base/lists.js';

/** Schemas of telemetry, alerts, drop folders and retention. */

const httpUrl = () =>
  z
    .url({ protocol: /^https?$/, error: 'allowed: an http or https URL' })
    .meta({ allowed: 'an http or https URL', published: { pattern: '^[Hh][Tt][Tt][Pp][Ss]?:' } });

export const telemetrySchema = z
  .strictObject({
    otlp: httpUrl()
      .optional()
      .describe(
        'OpenTelemetry collector that traces are sent to (OTLP over HTTP, JSON), such as http://127.0.0.1:4318. Read at the start.',
      ),
  })
  .optional()
  .describe('Traces for an OpenTelemetry collector.');

const receiver = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('slack').describe('A channel of Slack.'),
      token: headerSecret().describe('Bot token with the scope chat:write.'),
      channel: nonEmptyText('the id of a channel').describe('Id of the channel.'),
      baseUrl: baseUrl().optional().describe('Replaces https://slack.com/api.'),
    }),
    z.strictObject({
      type: z.literal('webhook').describe('An HTTP endpoint, on private networks too.'),
      url: httpUrl().describe('Where alerts are posted.'),
      secret: signingSecret().describe('Signs them, as Standard Webhooks says.'),
    }),
    z.strictObject({
      type: z.literal('smtp').describe('A mailbox.'),
      host: nonEmptyText('the name of a mail server').describe('Mail server.'),
      port: wholeNumber({ min: 1, max: 65_535 })
        .prefault(587)
        .describe(
          'Its port. On 465 the connection starts with TLS, on any other port with STARTTLS. Off loopback, nothing is sent without TLS.',
        ),
      allowPlainText: z
        .boolean()
        .optional()
        .describe(
          'Sends mail without TLS if the server offers no STARTTLS. Alerts name your sinks and events, so set this only on a network that you trust. Not allowed with `password`.',
        ),
      username: nonEmptyText('the name of a user').optional().describe('User at the mail server; needs `password`.'),
      password: secret().optional().describe('Password of that user.'),
      from: nonEmptyText('an e-mail address').describe('Sender.'),
      to: nonEmptyText('an e-mail address').describe('Receiver.'),
    }),
  ])
  .refine((found) => found.type !== 'smtp' || (found.username === undefined) === (found.password === undefined), {
    error: 'username and password belong together; give both or none',
  })
  .refine((found) => found.type !== 'smtp' || found.password === undefined || found.allowPlainText !== true, {
    error: 'a password is never sent without TLS: remove allowPlainText, or username and password',
  });

const unlessOff = (sentence: string) => z.boolean().prefault(true).describe(sentence);
const ifOn = (sentence: string) => z.boolean().optional().describe(sentence);

export const alertsSchema = z
  .strictObject({
    to: z.array(receiver).min(1, { error: 'allowed: a list of receivers' }).describe('Receivers of alerts.'),
    // `operations/problems.ts` names the problem or the event of each key, and a test fails if one has none.
    when: z
      .strictObject({
        'service-down': unlessOff('The service has not answered a workspace for a minute.'),
        'reading-late': unlessOff(
          'A list should have been read three minutes ago, and neither a pause nor the service explains it.',
        ),
        'sink-paused': ifOn('A sink is paused, by pigeonpost or by an operator.'),
        'workspace-paused': ifOn('A workspace is paused, usually because its key was refused.'),
        behind: duration().optional().describe('The oldest undelivered change of a sink is older than this.'),
        'dead-letters': wholeNumber({ min: 1, max: 1_000_000_000, unit: 'changes' })
          .optional()
          .describe('A sink has this number of dead letters.'),
        withholding: unlessOff(
          'A sink withholds all of a list, or suddenly far more than before, because the mapping finds no value.',
        ),
        parity: unlessOff('An audit found that a destination no longer holds what was delivered.'),
        'nightly-export': unlessOff('Nightly exports to a sink have failed for half an hour.'),
        'deletions-held': ifOn('Deletions wait for an operator.'),
        'quota-used-up': unlessOff('The request quota is used up, and nothing is read for at least a minute.'),
        'quota-short': ifOn('The request quota is too small for the configured intervals.'),
        'import-ended': ifOn('An import finished.'),
        'closing-statement': duration()
          .optional()
          .describe(
            'At this time after the end of an event, pigeonpost reads its lists again, makes the closing statement, and sends its result. After 7d, the last sweep of the event has ended.',
          ),
      })
      .prefault({})
      .describe('Conditions that send an alert: once per change of state, and on recovery.'),
  })
  .optional()
  .describe('Messages to operators, never with personal data.');

export const importsSchema = z
  .array(
    z.strictObject({
      workspace: nonEmptyText('the name of a workspace').describe('Where registrants are created.'),
      pigeonhole: z
        .union(
          [identifier(), z.strictObject({ name: regularExpression().describe('Pigeonholes whose name matches.') })],
          {
            error: 'allowed: the id of a pigeonhole, or { name: "a regular expression" }',
          },
        )
        .meta({ allowed: 'an id, or `{ name: "a regular expression" }`' })
        .describe('The pigeonhole. With a name, the folder has one sub-folder for each pigeonhole id.'),
      folder: folder().describe('Each file that is put there is imported once.'),
      map: z
        .union(
          [nonEmptyText('the name of a saved mapping'), z.record(z.string(), nonEmptyText('the name of a field'))],
          {
            error: 'allowed: a group of column names and fields, or the name of a saved mapping',
          },
        )
        .optional()
        .meta({ allowed: 'columns and their fields, or the name of a saved mapping' })
        .describe('The fields of columns whose header is not the name of a field.'),
    }),
    { error: 'allowed: a list of folders to import from' },
  )
  .optional()
  .describe('Folders from which files of registrants are imported.');

/**
 * Lists with personal data. The other lists are not included, because pigeonpost needs their content for event times
 * and identities.
 */
const personalLists = listsWhere(({ person }) => person !== 'none');

export const retentionSchema = z
  .strictObject({
    ...Object.fromEntries(personalLists.map((list) => [list, duration().optional().describe(`Content of ${list}.`)])),
    changes: duration()
      .optional()
      .meta({ shownDefault: '30d' })
      .describe('Content of earlier revisions, each counted from the time that pigeonpost recorded it.'),
    attempts: duration()
      .optional()
      .meta({ shownDefault: '7d' })
      .describe('The log of attempts: what was sent to sinks and what they answered, each counted from the attempt.'),
  })
  .optional()
  .describe(
    'Time from the end of the event until pigeonpost removes the content of items. Keys and hashes stay, so nothing is sent twice. See docs/privacy.md.',
  );
