import type { ReadyCheck } from '../../api/readiness.js';
import type { WhatGoes } from '../count-what-goes.js';
import { countOf } from './count-of.js';

const words: Readonly<Record<string, string>> = {
  'consent-refused': 'have refused',
  'consent-not-asked': 'were not asked',
  'consent-not-known': 'have not said yet',
};

/**
 * Of how many people a sink would be sent the record, and of how many not, by what they said. Pure. Withholding those
 * who have refused is right; withholding those of whom nothing is known may be a surprise.
 * @param counts of the lists of people that the sink gets
 */
export function judgeConsent(name: string, accepts: readonly string[], counts: readonly WhatGoes[]): ReadyCheck {
  const about = { id: `consent:${name}`, label: `People for ${name}` };
  const accepted = `it accepts consent ${accepts.join(', ')}`;
  const told = counts.filter(({ items, withheld }) => items > 0 || Object.keys(withheld).length > 0);
  if (told.length === 0) {
    return { ...about, state: 'ok', says: `nobody was read yet; ${accepted}` };
  }
  const says = told.map(({ list, items, withheld }) => {
    const all = Object.values(withheld).reduce((sum, n) => sum + n, 0);
    const why = Object.entries(withheld).map(
      ([reason, n]) => `${n.toLocaleString('en-US')} ${words[reason] ?? reason}`,
    );
    return `will send ${countOf(items, singular(list))}, withhold ${all.toLocaleString('en-US')}${why.length === 0 ? '' : ` (${why.join(', ')})`}`;
  });
  const surprising = told.some(({ withheld }) => Object.keys(withheld).some((reason) => reason !== 'consent-refused'));
  if (!surprising) return { ...about, state: 'ok', says: says.join('; ') };
  return {
    ...about,
    state: 'warning',
    says: `${says.join('; ')}; ${accepted}`,
    todo: `if they have agreed elsewhere, say so in sinks.${name}.consent, with its basis`,
  };
}

function singular(list: string): string {
  return list.replace(/s$/, '');
}
