import type { ReadyCheck } from './readiness.js';
import type { RegistrantCounts } from '../../importing/count-registrants.js';
import { counted } from '../../base/words.js';
import type { DeliverableCount } from '../count-deliverable.js';

/** Registrant settings of the pigeonhole; undefined: not stated. */
export interface RegistrantSettings {
  readonly registrants: boolean | undefined;
  readonly attendeeCodeRequired: boolean | undefined;
  readonly expectedParticipants: number | undefined;
}

const about = { id: 'registrants', label: 'Registrants' };

/**
 * Checks that invited people can sign in: registrants are switched on, and the imported ones exist. Pure.
 * @param counts of imported registrants; those created in the service's dashboard cannot be counted
 */
export function judgeRegistrants(settings: RegistrantSettings, counts: RegistrantCounts): ReadyCheck {
  const imported = counts.newestImport !== null;
  const codes = settings.attendeeCodeRequired === true ? ', and nobody signs in without a code' : '';
  if (settings.registrants === false) {
    if (imported || settings.attendeeCodeRequired === true) {
      return {
        ...about,
        state: 'failed',
        says: `registrants are switched off at the service${codes}`,
        todo: 'switch them on in the dashboard of the service',
      };
    }
    return { ...about, state: 'ok', says: 'this event has no registrants: people sign in by themselves' };
  }
  if (!imported) {
    return {
      ...about,
      state: 'warning',
      says: `none was imported with pigeonpost${codes}`,
      todo: 'pigeonpost import FILE --pigeonhole ID; nothing to do if they were created in the service',
    };
  }
  return judgeImported(settings, counts);
}

function judgeImported({ expectedParticipants }: RegistrantSettings, counts: RegistrantCounts): ReadyCheck {
  const { present, conflict, rejected, unknown, waiting, givenUp, newestImport, openImports } = counts;
  const there = present + conflict;
  const bad = [
    ...(rejected === 0 ? [] : [`${counted(rejected, 'row')} refused by the service`]),
    ...(unknown === 0 ? [] : [`of ${counted(unknown, 'row')} nobody knows whether they are there`]),
    ...(givenUp === 0 ? [] : [`${counted(givenUp, 'row')} not sent before the import ended`]),
  ];
  const doubtful = [
    ...(conflict === 0 ? [] : [`${counted(conflict, 'row')} there already with other data`]),
    ...(expectedParticipants === undefined || there <= expectedParticipants
      ? []
      : [`the service expects ${counted(expectedParticipants, 'participant')} at most`]),
  ];
  const says = [`${counted(there, 'registrant')} can sign in`, ...bad, ...doubtful];
  const report = `pigeonpost import report ${newestImport}`;
  if (openImports.length > 0 || waiting > 0) {
    const [first = newestImport] = openImports;
    const still = `${counted(waiting, 'row')} still to be sent`;
    const todo = `pigeonpost import follow ${first}`;
    return { ...about, state: 'failed', says: [says[0]!, still, ...bad, ...doubtful].join('; '), todo };
  }
  if (there === 0 || bad.length > 0) return { ...about, state: 'failed', says: says.join('; '), todo: report };
  if (doubtful.length > 0) return { ...about, state: 'warning', says: says.join('; '), todo: report };
  return { ...about, state: 'ok', says: says.join('; ') };
}

const words: Readonly<Record<string, string>> = {
  'consent-refused': 'have refused',
  'consent-not-asked': 'were not asked',
  'consent-not-known': 'have not said yet',
};

/**
 * Counts the people whose record a sink would receive, and those withheld, by consent. Pure. Withholding people who
 * refused is right; withholding people whose consent is not known may be a surprise.
 * @param counts of the lists of people that the sink gets
 */
export function judgeConsent(
  name: string,
  accepts: readonly string[],
  counts: readonly DeliverableCount[],
): ReadyCheck {
  const about = { id: `consent:${name}`, label: `People for ${name}` };
  const accepted = `it accepts consent ${accepts.join(', ')}`;
  const told = counts.filter(({ items, withheld }) => items > 0 || Object.keys(withheld).length > 0);
  if (told.length === 0) {
    return { ...about, state: 'ok', says: `no attendee has been read yet; ${accepted}` };
  }
  const says = told.map(({ list, items, withheld }) => {
    const all = Object.values(withheld).reduce((sum, n) => sum + n, 0);
    const why = Object.entries(withheld).map(
      ([reason, n]) => `${n.toLocaleString('en-US')} ${words[reason] ?? reason}`,
    );
    return `will send ${counted(items, singular(list))}, withhold ${all.toLocaleString('en-US')}${why.length === 0 ? '' : ` (${why.join(', ')})`}`;
  });
  const surprising = told.some(({ withheld }) => Object.keys(withheld).some((reason) => reason !== 'consent-refused'));
  if (!surprising) return { ...about, state: 'ok', says: says.join('; ') };
  return {
    ...about,
    state: 'warning',
    says: `${says.join('; ')}; ${accepted}`,
    todo: `if they consented elsewhere, state it in sinks.${name}.consent with the legal basis`,
  };
}

function singular(list: string): string {
  return list.replace(/s$/, '');
}
