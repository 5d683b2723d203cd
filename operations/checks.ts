/*
 * The checks before a start and before an event: one list, of which "check", "doctor" and "ready" run a selection.
 */

/** Means that a check depends on, from the fewest to the most. */
type Needs = 'files' | 'network' | 'ledger' | 'process';

/** Every check, with what it needs. */
export const checkNeeds = {
  /** The configuration file is valid. */
  configuration: 'files',
  /** The service accepts the key of each workspace, and has the pigeonholes that its syncs select. */
  workspace: 'network',
  /** Each sink can send as configured. */
  sink: 'network',
  /** Each drop folder can be read. */
  imports: 'files',
  /** A start could use the store and Temporal. */
  backends: 'network',
  /** A start could listen at its addresses. */
  server: 'files',
  /** No mapping withholds a whole list by mistake. */
  mapping: 'ledger',
  /** The people whom each sink receives. */
  consent: 'ledger',
  /** The fields that mappings read exist. */
  'profile-fields': 'ledger',
  /** The requests that the calendar of the service needs. */
  estimate: 'network',
  /** The service knows the event, and the event is not over. */
  event: 'network',
  /** The invited people can sign in. */
  registrants: 'ledger',
  /** The sessions are plausible. */
  sessions: 'ledger',
  /** The quota suffices on the days of the event. */
  quota: 'ledger',
  /** A sync reads the event, and has read all of it. */
  reading: 'process',
  /** Nothing that the event needs is paused or fails. */
  running: 'process',
  /** Nothing waits for an operator's decision. */
  parked: 'process',
} as const satisfies Readonly<Record<string, Needs>>;

export type CheckName = keyof typeof checkNeeds;

/** The names of the checks that need only these means. */
type CheckNeeding<Met extends Needs> = {
  [Name in CheckName]: (typeof checkNeeds)[Name] extends Met ? Name : never;
}[CheckName];

/** Checks of an installation, whether or not it runs. With `--estimate`, the command also runs the check of that name. */
const ofCheck = [
  'configuration',
  'workspace',
  'sink',
  'imports',
  'backends',
  'server',
  'mapping',
  'consent',
  'profile-fields',
] as const satisfies readonly CheckNeeding<'files' | 'network' | 'ledger'>[];

/** Checks of an installation of which nothing may be usable. */
const ofDoctor = ['workspace', 'sink', 'imports', 'backends'] as const satisfies readonly CheckNeeding<
  'files' | 'network'
>[];

/** Checks of one event, in the running process. */
const ofReady = [
  'event',
  'reading',
  'registrants',
  'profile-fields',
  'sessions',
  'quota',
  'sink',
  'consent',
  'running',
  'parked',
] as const satisfies readonly CheckName[];

/** The checks that each command runs, in the order in which it shows them. */
export const selections = { check: ofCheck, doctor: ofDoctor, ready: ofReady } as const;

export type CheckOf<Command extends keyof typeof selections> = (typeof selections)[Command][number];

/**
 * Levels of a result. `note`: for information, never counted; `warning`: an operator should check it, it may be intended;
 * `failed`: it cannot work as configured; `unknown`: it could not be checked, because something cannot be reached.
 */
export type CheckState = 'ok' | 'note' | 'warning' | 'failed' | 'unknown';

/** Result of a check. */
export interface CheckResult<State extends CheckState = CheckState> {
  /** The check's name, with its subject if there are several: `sink:crm`. */
  readonly id: CheckName | `${CheckName}:${string}`;
  /** Subject in a few words. */
  readonly label: string;
  readonly state: State;
  /** A sentence. */
  readonly says: string;
  /** Remedy; absent if nothing has to be done, or if the sentence says it. */
  readonly todo?: string;
}

/** Returns one function for each state that the result of a check can have. */
export function checkOf(id: CheckResult['id'], label: string) {
  const result =
    <State extends CheckState>(state: State) =>
    (says: string, todo?: string): CheckResult<State> => ({
      id,
      label,
      state,
      says,
      ...(todo === undefined ? {} : { todo }),
    });
  return {
    ok: result('ok'),
    note: result('note'),
    warning: result('warning'),
    failed: result('failed'),
    unknown: result('unknown'),
  };
}

/** Makes a check. Returns or yields its results. */
export type CheckRun<Context> = (context: Context) => AsyncIterable<CheckResult> | Promise<readonly CheckResult[]>;

/** Makes these checks one after another, and yields each result as soon as it is known. */
export async function* runChecks<Name extends CheckName, Context>(
  names: readonly Name[],
  runs: Readonly<Record<Name, CheckRun<Context>>>,
  context: Context,
): AsyncGenerator<CheckResult, void, undefined> {
  for (const name of names) yield* await runs[name](context);
}

/** Returns whether a result is one of this check. */
export function isOf({ id }: Pick<CheckResult, 'id'>, name: CheckName): boolean {
  return id === name || id.startsWith(`${name}:`);
}
