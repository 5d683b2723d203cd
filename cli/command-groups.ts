import type { Command } from 'commander';

/** The commands by what a person is about, in this order; one that stands nowhere is shown last. */
const groups: readonly (readonly [heading: string, commands: readonly string[]])[] = [
  ['Begin', ['init', 'check', 'start', 'worker', 'api', 'demo', 'sandbox']],
  ['See how it stands', ['open', 'status', 'ready', 'live', 'items', 'why', 'preview', 'fields', 'doctor']],
  [
    'Steer',
    [
      'pause',
      'resume',
      'try-now',
      'poll-now',
      'sweep',
      'replay',
      'sink',
      'dead-letters',
      'deletions',
      'config',
      'alerts',
    ],
  ],
  ['Registrants and events', ['import', 'apply']],
  ['People and their data', ['forget', 'erasures', 'person', 'retention']],
  ['Administer', ['token', 'audit', 'backup', 'restore', 'key', 'completion']],
];

/** Puts the commands of a program in the order and under the headings in which its help shows them. */
export function groupCommands(program: Command): void {
  const place = (command: Command): number => {
    const group = groups.findIndex(([, names]) => names.includes(command.name()));
    return group === -1 ? groups.length : group + groups[group]![1].indexOf(command.name()) / 100;
  };
  program.commandsGroup('Administer:'); // what commander adds by itself: help
  const ordered = program.commands.toSorted((a, b) => place(a) - place(b));
  for (const command of ordered) command.helpGroup(`${groups[Math.floor(place(command))]?.[0] ?? 'Further'}:`);
  (program.commands as Command[]).splice(0, ordered.length, ...ordered);
}
