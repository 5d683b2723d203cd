import { checkOf } from '../checks.js';
import type { ReadyCheck } from './readiness.js';
import { counted, grouped, singular, sumOf } from '../../base/words.js';
import type { DeliverableCount, MappedCount } from '../count-deliverable.js';
import { consentReason } from '../../delivering/decide-delivery.js';
import { consentStates } from '../../ledger/seen-item.js';
import { reasonWords } from '../../sinks/reason-words.js';
import type { Config } from '../../config/config.js';
import type { SeenFields } from '../../ledger/seen-fields.js';
import { fieldNotes, mentionedLists, type SeenByList } from '../field-notes.js';
import type { Ledger } from '../../ledger/ledger.js';
import { codeStatus } from '../../ledger/sql-expressions.js';

/** Registrant settings of the pigeonhole; undefined: not stated. */
export interface RegistrantSettings {
  readonly registrants: boolean | undefined;
  readonly attendeeCodeRequired: boolean | undefined;
  readonly expectedParticipants: number | undefined;
}

const about = checkOf('registrants', 'Registrants');

/**
 * Checks that invited people can sign in: registrants are switched on, and the imported ones exist. Pure.
 * @param counts of imported registrants; those created in the service's dashboard cannot be counted
 */
export function judgeRegistrants(settings: RegistrantSettings, counts: RegistrantCounts): ReadyCheck {
  const imported = counts.newestImport !== null;
  const codes = settings.attendeeCodeRequired === true ? ', and nobody signs in without a code' : '';
  if (settings.registrants === false) {
    if (imported || settings.attendeeCodeRequired === true) {
      return about.failed(
        `registrants are switched off in the service${codes}`,
        'switch them on in the dashboard of the service',
      );
    }
    return about.ok('this event has no registrants: people sign in by themselves');
  }
  if (!imported) {
    return about.warning(
      `none was imported with pigeonpost${codes}`,
      'pigeonpost import FILE --pigeonhole ID; nothing to do if they were created in the service',
    );
  }
  return judgeImported(settings, counts);
}

function judgeImported({ expectedParticipants }: RegistrantSettings, counts: RegistrantCounts): ReadyCheck {
  const { present, conflict, rejected, unknown, waiting, givenUp, newestImport, openImports } = counts;
  const there = present + conflict;
  const bad = [
    ...(rejected === 0 ? [] : [`${counted(rejected, 'row')} refused by the service`]),
    ...(unknown === 0 ? [] : [`${counted(unknown, 'row')} with an unknown outcome`]),
    ...(givenUp === 0 ? [] : [`${counted(givenUp, 'row')} not sent before the import ended`]),
  ];
  const doubtful = [
    ...(conflict === 0 ? [] : [`${counted(conflict, 'row')} already registered with different data`]),
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
    return about.failed([says[0]!, still, ...bad, ...doubtful].join('; '), todo);
  }
  if (there === 0 || bad.length > 0) return about.failed(says.join('; '), report);
  if (doubtful.length > 0) return about.warning(says.join('; '), report);
  return about.ok(says.join('; '));
}

const words: Readonly<Record<string, string>> = {
  'consent-refused': 'have refused',
  'consent-not-asked': 'were not asked',
  'consent-not-known': 'have not said yet',
};

/**
 * Counts the people whose record a sink would receive, and those withheld: by consent, or by the mapping. Pure.
 * Withholding the records of people who refused is correct. Withholding for another state of consent, such as an unknown
 * one, may not be intended, so it causes a warning.
 * @param counts of the lists of people that the sink receives
 */
export function judgeConsent(
  name: string,
  accepts: readonly string[],
  counts: readonly (DeliverableCount & Partial<MappedCount>)[],
): ReadyCheck {
  const about = checkOf(`consent:${name}`, `People for ${name}`);
  const accepted = `it accepts consent ${accepts.join(', ')}`;
  const told = counts.filter(
    ({ items, withheld, failed = 0 }) => items + failed > 0 || Object.keys(withheld).length > 0,
  );
  if (told.length === 0) {
    return about.ok(`no attendee has been read yet; ${accepted}`);
  }
  const says = told.map(({ list, items, withheld, failed = 0, estimated = false }) => {
    const why = Object.entries(withheld).map(([reason, n]) =>
      reason in words ? `${grouped(n)} ${words[reason]}` : `${grouped(n)}: ${reasonWords(reason)}`,
    );
    return [
      `will send ${estimated ? 'about ' : ''}${counted(items, singular(list))}`,
      `withhold ${grouped(sumOf(withheld))}${why.length === 0 ? '' : ` (${why.join(', ')})`}`,
      ...(failed === 0 ? [] : [`the mapping fails for ${grouped(failed)}`]),
    ].join(', ');
  });
  if (told.some(({ withheld }) => Object.keys(withheld).some(isUnexpected))) {
    return about.warning(
      `${says.join('; ')}; ${accepted}`,
      `if they consented elsewhere, state it in sinks.${name}.consent with the legal basis`,
    );
  }
  return told.some(({ failed = 0 }) => failed > 0)
    ? about.warning(says.join('; '), `pigeonpost preview --sink ${name} shows the errors`)
    : about.ok(says.join('; '));
}

function isUnexpected(reason: string): boolean {
  return consentStates.some((state) => state !== 'refused' && reason === consentReason(state));
}

const aboutFields = checkOf('profile-fields', 'Profile fields');
const maxFields = 8;

/**
 * Fields that the service adds to every record, whatever the profile. They are known even if no item was read yet.
 * Source: specification, "Attendee"; docs/registrants.md.
 */
const ownFields: Readonly<Record<string, readonly string[]>> = {
  attendees: ['id', 'registrantId', 'attendeeCode', 'signInTime', 'consent', 'linkedIn', 'twitter'],
  registrants: ['attendeeCode', 'registrantId', 'attendeeId', 'attendees', 'signedIn', 'signedInAt', 'consent'],
};

interface KnownFields {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** Profile fields of the pigeonhole, from attendees and imports. */
  readonly profile: readonly string[];
  /** Fields of stored items, for the lists that mappings mention. */
  readonly seen: SeenByList;
}

/**
 * Checks that the fields that mappings read exist in this event. Every event has its own profile fields, and without
 * this check a wrong name shows only when the CRM stays empty. Pure.
 * @param config with only the sinks that receive data of this pigeonhole
 */
export function judgeFields(config: Config, known: KnownFields): ReadyCheck {
  const readsPeople = mentionedLists(config).some((list) => list in ownFields);
  if (known.profile.length === 0) {
    if (!readsPeople) return aboutFields.ok('no mapping reads any');
    return aboutFields.warning(
      'none is known yet, because nobody was imported and nobody has signed in: the mappings cannot be compared',
      'sign in once as a test, then run the check again',
    );
  }
  const names = known.profile.slice(0, maxFields).map((name) => JSON.stringify(name));
  const rest = known.profile.length - names.length;
  const told = `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  const notes = fieldNotes(config, withProfile(known));
  if (notes.length === 0) return aboutFields.ok(`${told}; the mappings find all that they read`);
  return aboutFields.warning(
    `${counted(notes.length, 'expression')} of mappings would find nothing: ${notes.join('; ')}`,
    'use the field name of this event; $field("one name", "another") reads the first that exists',
  );
}

/** Adds the profile fields to the fields of stored items: before the event starts, nobody has signed in yet. */
function withProfile({ workspace, pigeonholeId, profile, seen }: KnownFields): SeenByList {
  const lists = new Map(seen);
  for (const [list, own] of Object.entries(ownFields)) {
    const stored = (seen.get(list) ?? []).filter((place) => place.pigeonholeId === pigeonholeId);
    const there = new Set(stored.flatMap(({ fields }) => fields.map(({ field }) => field)));
    const added = [...own, ...profile].filter((field) => !there.has(field));
    const place: SeenFields = {
      workspace,
      pigeonholeId,
      items: 0,
      fields: added.map((field) => ({ field, member: null, types: {}, filled: 0, values: null })),
    };
    lists.set(list, [...stored, place]);
  }
  return lists;
}

/** The codes that imports claimed in a pigeonhole, counted by state. */
export interface RegistrantCounts {
  /** Created or already there: these people can sign in. */
  readonly present: number;
  /** Already there with different data than in the file. */
  readonly conflict: number;
  /** Refused by the service. */
  readonly rejected: number;
  /** It is unknown whether they exist. */
  readonly unknown: number;
  /** Still to be sent. */
  readonly waiting: number;
  /** Their import ended before they were sent. */
  readonly givenUp: number;
  /** Number of the newest import; null: none. */
  readonly newestImport: number | null;
  /** Numbers of the imports that have not ended. */
  readonly openImports: readonly number[];
}

/** Counts the registrants of one pigeonhole in one pass. */
export async function countRegistrants(
  ledger: Pick<Ledger, 'db'>,
  pigeonholeNumber: number,
): Promise<RegistrantCounts> {
  const [rows, imports] = await Promise.all([
    ledger.db.query<{ status: string; n: number }>(
      `select status, count(*)::int as n from (
         select ${codeStatus} as status from registrants r join imports i on i.number = r.import
           where r.pigeonhole_number = $1) as s
       group by status`,
      [pigeonholeNumber],
    ),
    ledger.db.query<{ number: number; open: boolean }>(
      `select number, state in ('staging', 'running') as open from imports
       where pigeonhole_number = $1 and (state = 'staging' or started_at is not null) order by number`,
      [pigeonholeNumber],
    ),
  ]);
  const sum = (...states: readonly string[]): number =>
    rows.reduce((total, row) => (states.includes(row.status) ? total + row.n : total), 0);
  return {
    present: sum('created', 'confirmed', 'existing'),
    conflict: sum('conflict'),
    rejected: sum('rejected'),
    unknown: sum('unknown'),
    waiting: sum('waiting'),
    givenUp: sum('given-up'),
    newestImport: imports.at(-1)?.number ?? null,
    openImports: imports.filter(({ open }) => open).map(({ number }) => number),
  };
}
