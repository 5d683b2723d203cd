import type { ErasurePlanView, WholeErasureView } from '../api/erasures.js';

const outcomes: Readonly<Record<WholeErasureView['receipts'][number]['outcome'], string>> = {
  erased: 'nothing is left there',
  told: 'was told to remove it',
  nothing: 'had nothing',
  waiting: 'has not answered yet',
  'by-hand': 'a person has to see to it',
};

/** What would go. Pure. */
export function planLines({ people, items, importRows, sinks, sharing }: ErasurePlanView): string[] {
  if (people.length === 0) return ['this person was forgotten before: nothing is left of them'];
  const places = people.map(({ workspace, pigeonholeId, attendees, codes }) => {
    return `${workspace}/${pigeonholeId}: ${attendees} attendees, ${codes} codes`;
  });
  const counts = Object.entries(items).map(([list, count]) => `${count} ${list}`);
  return [
    ...places,
    `items: ${counts.length === 0 ? 'none' : counts.join(', ')}, and what was done anonymously, which is not counted`,
    `rows of imports: ${importRows}`,
    `sinks that were told: ${sinks.length === 0 ? 'none' : sinks.join(', ')}`,
    ...(sharing === 0 ? [] : [`others with an e-mail address of theirs, who are kept: ${sharing}`]),
  ];
}

/** What became of a person at each place; what is left for somebody to do comes last. Pure. */
export function erasureLines({ id, state, receipts }: WholeErasureView): string[] {
  const lines = receipts.map(({ place, count, outcome, detail }) => {
    const why = detail === null ? '' : ` (${detail})`;
    return `${place}: ${count}, ${outcomes[outcome]}${why}`;
  });
  const todo = receipts.flatMap(({ place, todo: text }) => (text === null ? [] : [`${place}: ${text}`]));
  return [
    state === 'done'
      ? `erasure ${id} is done`
      : `erasure ${id} goes on: "pigeonpost erasures show ${id}" tells how far`,
    ...lines,
    ...(todo.length === 0 ? [] : ['to be done by a person:', ...todo.map((text) => `  ${text}`)]),
  ];
}
