import { groupBy } from '../base/grouping.js';
import { counted } from '../base/words.js';
import { problemLine, type Trouble } from './problem.js';
import type { GroupTraits } from './problem-traits.js';
import { pageOf, traitsOf } from './problems.js';

/** Pigeonholes that a grouped problem names; `status` and the page show the others with their state. */
const maxNamed = 3;

/**
 * Returns the problems with one entry for each cause, for views of everything: problems of several pigeonholes of a
 * workspace become one problem of the workspace if they have one cause. The command line, the page and its badge count
 * these. Pure.
 */
export function groupByCause(problems: readonly Trouble[]): Trouble[] {
  const groups = groupBy(problems, ({ code, kind, name, detail }) => {
    const { group } = traitsOf(code);
    if (kind !== 'pigeonhole' || group === null) return `${code} ${kind} ${name}`;
    return `${code} of ${name.split('/')[0]} ${group.isOneCause ? '' : String(detail)}`;
  });
  const short = problems
    .filter(({ code }) => code === 'quota-short' || code === 'quota-used-up')
    .map(({ name }) => name);
  return [...groups.values()].flatMap((group) => {
    const { group: traits } = traitsOf(group[0]!.code);
    return group.length === 1 || traits === null ? group : [groupOf(group, traits, short)];
  });
}

/** @param short the workspaces whose request quota is short */
function groupOf(group: readonly Trouble[], traits: GroupTraits, short: readonly string[]): Trouble {
  const first = group[0]!;
  const name = first.name.split('/')[0]!;
  const names = group.slice(0, maxNamed).map((each) => each.name);
  const more = group.length - names.length;
  const named = `${names.join(', ')}${more > 0 ? ` and ${counted(more, 'more event')}` : ''}`;
  const lists = group.reduce((sum, { lists: n }) => sum + (n ?? 0), 0);
  const title = traits.title(name, { events: counted(group.length, 'event'), lists: counted(lists, 'list') });
  const says = traits.says === null ? first.says : traits.says(short.includes(name));
  const detail = traits.isOneCause || first.detail === null ? named : `${first.detail} (${named})`;
  return {
    ...first,
    kind: 'workspace',
    name,
    title,
    detail,
    says,
    text: problemLine({ title, detail, says }),
    advice: traits.advice === null ? first.advice : traits.advice(name),
    since: group.flatMap((each) => each.since ?? []).toSorted()[0] ?? null,
    saysSince: false,
    page: `#${pageOf('subject', 'workspace', name)}`,
    help: traits.readAll
      ? { label: 'Read all now', action: { do: 'poll-now', kind: 'workspace', name }, see: null }
      : null,
  };
}
