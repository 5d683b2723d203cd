import type { ReadyCheck } from '../../api/readiness.js';
import type { RegistrantCounts } from '../../importing/count-registrants.js';
import { countOf } from './count-of.js';

/** What the pigeonhole says of its registrants; undefined: it does not say. */
export interface RegistrantSettings {
  readonly registrants: boolean | undefined;
  readonly attendeeCodeRequired: boolean | undefined;
  readonly expectedParticipants: number | undefined;
}

const about = { id: 'registrants', label: 'Registrants' };

/**
 * Whether those who are invited can sign in: registrants are switched on, and those of the file are there. Pure.
 * @param counts of what was imported from here; whom others created, in the dashboard, nobody can count
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
      says: `none was imported from here${codes}`,
      todo: 'pigeonpost import FILE --pigeonhole ID; nothing has to be done if they were entered at the service',
    };
  }
  return judgeImported(settings, counts);
}

function judgeImported({ expectedParticipants }: RegistrantSettings, counts: RegistrantCounts): ReadyCheck {
  const { present, conflict, rejected, unknown, waiting, givenUp, newestImport, openImports } = counts;
  const there = present + conflict;
  const bad = [
    ...(rejected === 0 ? [] : [`${countOf(rejected, 'row')} refused by the service`]),
    ...(unknown === 0 ? [] : [`of ${countOf(unknown, 'row')} nobody knows whether they are there`]),
    ...(givenUp === 0 ? [] : [`${countOf(givenUp, 'row')} not sent before the import ended`]),
  ];
  const doubtful = [
    ...(conflict === 0 ? [] : [`${countOf(conflict, 'row')} there already with other data`]),
    ...(expectedParticipants === undefined || there <= expectedParticipants
      ? []
      : [`the service expects ${countOf(expectedParticipants, 'participant')} at most`]),
  ];
  const says = [`${countOf(there, 'registrant')} can sign in`, ...bad, ...doubtful];
  const report = `pigeonpost import report ${newestImport}`;
  if (openImports.length > 0 || waiting > 0) {
    const [first = newestImport] = openImports;
    const still = `${countOf(waiting, 'row')} still to be sent`;
    const todo = `pigeonpost import follow ${first}`;
    return { ...about, state: 'failed', says: [says[0]!, still, ...bad, ...doubtful].join('; '), todo };
  }
  if (there === 0 || bad.length > 0) return { ...about, state: 'failed', says: says.join('; '), todo: report };
  if (doubtful.length > 0) return { ...about, state: 'warning', says: says.join('; '), todo: report };
  return { ...about, state: 'ok', says: says.join('; ') };
}
