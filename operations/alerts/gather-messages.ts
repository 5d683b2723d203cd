import type { AlertFacts, NewAlertMessage } from './looks.js';

/**
 * Several messages of one occasion and kind as one, of all their subjects. Of the facts it has the sum of counts, the
 * earliest of instants, and else what all agree on. Pure.
 */
export function gatherMessages(messages: readonly NewAlertMessage[]): NewAlertMessage {
  const [first] = messages;
  if (first === undefined) throw new Error('there is nothing to gather: one message at least is needed');
  return {
    occasion: first.occasion,
    subjects: messages.flatMap(({ subjects }) => subjects),
    kind: first.kind,
    since: new Date(Math.min(...messages.map(({ since }) => since.getTime()))),
    facts: gatherFacts(messages.map(({ facts }) => facts)),
  };
}

function gatherFacts(all: readonly AlertFacts[]): AlertFacts {
  const names = new Set(all.flatMap((facts) => Object.keys(facts)));
  return Object.fromEntries([...names].map((name) => [name, gatherFact(name, all)]));
}

function gatherFact(name: string, all: readonly AlertFacts[]): string | number | null {
  const values = all.map((facts) => facts[name] ?? null);
  const known = values.filter((value) => value !== null);
  const numbers = known.filter((value) => typeof value === 'number');
  if (numbers.length > 0) return numbers.reduce((sum, n) => sum + n, 0);
  // ISO 8601 in UTC sorts as text
  if (name.endsWith('At')) return known.map(String).toSorted()[0] ?? null;
  return values.every((value) => value === values[0]) ? values[0]! : null;
}
