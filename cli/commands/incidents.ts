import type { IncidentView } from '../../api/incidents.js';
import { formatInstant, formatSpan } from '../../base/words.js';
import { clientOf, firstOfList } from '../api-client.js';
import { type CliCommand, type Context, type JsonOption, wholeNumber } from '../command.js';
import type { ExitCode } from '../exit-code.js';
import { printList } from '../output.js';

export function addIncidents(program: CliCommand): void {
  program
    .command('incidents')
    .description('Show the problems of the last 30 days: when they started and ended, and who was notified')
    .option('--open', 'only those that last', false)
    .option('--limit <n>', 'number of incidents', wholeNumber(100_000), 50)
    .json()
    .examples('incidents', 'incidents --open')
    .runs(incidents);
}

interface IncidentArguments extends JsonOption {
  readonly open: boolean;
  readonly limit: number;
}

/** `pigeonpost incidents`: lists problems with their start and end, newest first. Exit 0, also if there are none. */
export async function incidents(context: Context, { open, limit, json }: IncidentArguments): Promise<ExitCode> {
  const client = await clientOf(context);
  const state = open ? 'open' : undefined;
  const found = await firstOfList(limit, (part) => client.get('/api/incidents', { query: { state, ...part } }));
  const nothing = open ? 'no incident is open' : 'no incidents in the last 30 days';
  const now = new Date();
  const lines = found.items.flatMap((incident) => incidentLines(incident, now));
  return printList(context.out, json, found, lines.length === 0 ? nothing : lines);
}

/** Formats one incident. Pure. */
export function incidentLines(
  { since, endedAt, title, says, advice, returns, notified }: IncidentView,
  now: Date,
): string[] {
  const seconds = Math.max(0, ((endedAt === null ? now.getTime() : Date.parse(endedAt)) - Date.parse(since)) / 1000);
  const lasted = `${endedAt === null ? 'open for' : 'lasted'} ${formatSpan(seconds)}`;
  const back = returns === 0 ? '' : `, returned ${returns === 1 ? 'once' : `${returns} times`}`;
  return [
    `${formatInstant(since)}  ${lasted}${back}  ${title}`,
    ...(says === null ? [] : [`  ${says}`]),
    ...(endedAt !== null || advice === null ? [] : [`  ${advice}`]),
    ...notified
      .filter(({ kind }) => kind === 'raised')
      .map(
        ({ receiver, at }) =>
          `  ${receiver ?? 'a receiver that is no longer configured'} was notified at ${formatInstant(at)}`,
      ),
    ...(endedAt === null ? [] : [`  ended at ${formatInstant(endedAt)}`]),
  ];
}
