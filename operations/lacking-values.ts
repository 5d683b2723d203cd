import type { Config } from '../config/config.js';
import { formatKey } from '../config/read-document.js';
import { expressionsIn } from '../sinks/mapping/expression-schema.js';
import { misspelledFields, unseenFields, type SeenByList } from './field-notes.js';
import type { Lack } from './withholding.js';

/** The keys of a sink whose expressions give the value, by the reason for which items are withheld without it. */
const keysOf: Readonly<Record<string, RegExp>> = {
  'no-match': /^records\[\d+\]\.(?:properties|contact|email)/,
  'no-email': /^records\[\d+\]\.email$/,
  'no-key': /^records\[\d+\]\.(?:externalId|email$|properties\.Email$)/,
  'no-user': /\.user$/,
  'no-assignment': /\.(?:course|assignment)$/,
  'no-grade': /\.grade$/,
  'no-actor': /^actor\.name$/,
  'no-activity': /\.activity$/,
  'no-attendance': /\.attendance$/,
  'no-text': /\.hs_note_body$/,
};

interface WithRecords {
  readonly records?: readonly { readonly match?: unknown }[];
}

/** Returns where a sink's mapping looks for what it lacks in a list, or null where its settings do not tell. */
export function lackOf(
  config: Pick<Config, 'syncs' | 'sinks'>,
  { sink, list, reason }: { readonly sink: string; readonly list: string; readonly reason: string },
  seen: SeenByList,
): Lack | null {
  const settings = config.sinks[sink]?.settings;
  const wanted = keysOf[reason];
  if (wanted === undefined) return null;
  const found = expressionsIn(settings)
    .map(({ key, from }) => ({ key, from, asWritten: key.replace(/\.value$/, '') })) // a property may be a group of its own
    .filter(({ from, asWritten }) => (from === undefined || from === list) && wanted.test(asWritten))
    .filter(({ asWritten }) => reason !== 'no-match' || isMatched(settings, asWritten));
  if (found.length === 0) return null;
  const record = /^records\[(\d+)\]\.properties\./.exec(found[0]!.asWritten);
  // what a CRM finds a person by is named by "match", and its values are among the properties
  const own =
    record === null
      ? found
      : found.filter(({ asWritten }) => asWritten.startsWith(`records[${record[1]}].properties.`));
  const at = record === null ? own[0]!.asWritten : formatKey(['records', Number(record[1]), 'match']);
  return {
    values: own.map(({ asWritten }) => asWritten.split('.').at(-1)!),
    at: `${sink}.${at}`,
    fields: unseenFields(config, { sink, keys: own.map(({ key }) => key) }, seen),
  };
}

/** Returns the first condition of a sink for a list that reads a field by a misspelled name, or null. */
export function misspelledCondition(
  config: Pick<Config, 'syncs' | 'sinks'>,
  { sink, list }: { readonly sink: string; readonly list: string },
  seen: SeenByList,
): Lack | null {
  const conditions = expressionsIn(config.sinks[sink]?.settings).filter(
    ({ key, from }) => /(?:^|\.)when$/.test(key) && (from === undefined || from === list),
  );
  for (const { key } of conditions) {
    const fields = misspelledFields(config, { sink, keys: [key] }, seen);
    if (fields !== null) return { values: [], at: `${sink}.${key}`, fields };
  }
  return null;
}

/** Of properties, those alone that `match` names count. */
function isMatched(settings: unknown, key: string): boolean {
  const property = /^records\[(\d+)\]\.properties\.(.+)$/.exec(key);
  if (property === null) return true;
  const match = (settings as WithRecords).records?.[Number(property[1])]?.match;
  return !Array.isArray(match) || match.includes(property[2]);
}
