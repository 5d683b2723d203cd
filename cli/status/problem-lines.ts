import type { Trouble } from '../../api/what-is-wrong.js';
import { inWords } from '../in-words.js';
import { span, type Style, type TextLine } from '../text-line.js';
import { wrapText } from '../wrap-text.js';
import type { Moment } from './moment.js';

const labels: Readonly<Record<Trouble['severity'], readonly [string, Style]>> = {
  error: ['PROBLEM', 'red'],
  warning: ['WARNING', 'yellow'],
  notice: ['note', 'dim'],
};
const labelWidth = 'PROBLEM  '.length;

/** Returns the problems, the worst first: a sentence each, and below it the command that helps. Pure. */
export function problemLines({ overview, status }: Moment, now: Date, columns: number): TextLine[] {
  return overview.troubles.flatMap((trouble) => {
    const [label, style] = labels[trouble.severity];
    const sentence = `${trouble.text}${began(trouble, status, now)}`;
    const help = commandOf(trouble);
    return [
      ...indented(sentence, columns).map((line, index): TextLine => [
        span((index === 0 ? label : '').padEnd(labelWidth), style),
        span(line, style === 'dim' ? 'dim' : undefined),
      ]),
      ...(help === null ? [] : [[span(' '.repeat(labelWidth)), span(help, 'bold')]]),
    ];
  });
}

function indented(sentence: string, columns: number): string[] {
  return wrapText(sentence, { columns: Math.max(20, columns - labelWidth) });
}

/** Since when, and for a pause of a person by whom. */
function began({ code, kind, name, since, text }: Trouble, { workspaces, sinks }: Moment['status'], now: Date): string {
  if (since === null || text.includes(since)) return '';
  const ago = inWords(new Date(since), now);
  const named = (views: readonly { readonly name: string; readonly pause: PauseOf }[]): PauseOf =>
    views.find((view) => view.name === name)?.pause ?? null;
  const pause =
    kind === 'sink'
      ? named(sinks)
      : kind === 'workspace'
        ? named(workspaces)
        : named(
            workspaces.flatMap((workspace) =>
              workspace.pigeonholes.map(({ id, pause: own }) => ({ name: `${workspace.name}/${id}`, pause: own })),
            ),
          );
  return code.endsWith('-paused') && pause !== null && pause.pausedBy === 'person' && pause.actor !== null
    ? ` (by ${pause.actor}, ${ago})`
    : ` (began ${ago})`;
}

type PauseOf = Moment['status']['sinks'][number]['pause'];

/** The command for what the page offers as a button; null where no command helps. */
function commandOf({ help, kind, name }: Trouble): string | null {
  if (help === null) return null;
  const { action, see } = help;
  if (action !== null) {
    const target = `${action.kind}:${action.name}`;
    if (action.do === 'approve') return `pigeonpost sink approve ${action.name}`;
    return `pigeonpost ${action.do} ${target}`;
  }
  if (see?.startsWith('/api/deletions') === true) return 'pigeonpost deletions list';
  if (see?.startsWith('/api/dead-letters') === true) {
    return `pigeonpost dead-letters list${kind === 'sink' ? ` --sink ${name}` : ''}`;
  }
  return null;
}
