import { counted, formatInstant } from '../base/words.js';
import { failureWords } from '../sinks/network/failure-sentence.js';
import type { Action } from './action.js';
import {
  capital,
  commonPause,
  deadLetters,
  closingStatement,
  importEnded,
  lengthened,
  needLess,
  parityDiffers,
  pigeonhole,
  quotaLeft,
  quotaReturns,
  readsNothing,
  serviceDownTitle,
  sinkBehind,
  sinkFailing,
  sinkPaused,
  sinkWithholding,
  workspacePaused,
} from './problem-sentences.js';
import type {
  AlertTraits,
  EventTraits,
  Help,
  ProblemTraits,
  SharedAlertTraits,
  Subject,
  SubjectKind,
} from './problem-traits.js';

/** Traits of most alerts. */
const immediately = {
  afterMs: 0,
  counts: null,
  minWaitMs: 0,
  common: () => null,
  listedBy: 'pigeonpost status',
} as const;

/**
 * The catalogue of problems (decision 0105): everything that pigeonpost knows about a kind of problem, one entry each.
 * The status, the page, the command line, alerts, metrics and the checks before an event read it. The compiler refuses
 * an entry that lacks a trait. `problems.test.ts` compares the entries with `alerts.when`, `docs/operations.md`,
 * `/metrics` and `deploy/alerts.yml`.
 */
const catalogue = {
  'process-failing': {
    kind: 'process',
    severity: 'error',
    stops: true,
    words: () => ({
      title: 'pigeonpost makes no progress',
      says: 'pigeonpost reads and delivers nothing until the cause is fixed. Nothing is lost.',
      todo: 'Fix the cause. "pigeonpost check" tests the store and Temporal.',
    }),
    help: () => null,
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'failed' },
    alert: null,
    metric: 'pigeonpost_process_failing',
    rule: 'PigeonpostFailing',
    runbook: 'every-cycle-fails',
  },
  'file-unusable': {
    kind: 'process',
    severity: 'warning',
    stops: false,
    words: (_, facts) => ({
      title: `The configuration file can no longer be used${facts['line'] == null ? '' : ` (line ${facts['line']})`}`,
      says: 'pigeonpost continues with the configuration that it loaded, but its next start would fail.',
      todo: 'Correct the file, then run "pigeonpost check".',
    }),
    help: () => null,
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: null,
    alert: null,
    metric: null,
    rule: null,
    runbook: 'reading-the-status',
  },
  'service-down': {
    kind: 'workspace',
    severity: 'error',
    stops: true,
    words: (name, facts) => ({
      title: serviceDownTitle(name, facts['unansweredAt'], facts['lists']),
      says: 'pigeonpost keeps trying and continues where it stopped when the service answers.',
      todo: `Check the service and the network to it. To try now, run "pigeonpost try-now workspace:${name}".`,
    }),
    help: (found) => button('Try now', 'try-now', found),
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'failed' },
    alert: {
      ...immediately,
      occasion: 'service-down',
      afterMs: 60_000, // a shorter silence is a network hiccup
      several: (n) => `The service does not answer ${n} workspaces`,
      over: {
        one: (name) => `The service answers workspace ${name} again`,
        several: (n) => `The service answers ${n} workspaces again`,
      },
    },
    metric: 'pigeonpost_service_unanswered_seconds',
    rule: 'PigeonpostServiceDown',
    runbook: 'service-down',
  },
  'workspace-paused': {
    kind: 'workspace',
    severity: 'error',
    stops: true,
    words: workspacePaused,
    help: liftPause,
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'failed' },
    alert: {
      ...immediately,
      occasion: 'workspace-paused',
      common: commonPause,
      several: (n) => `${n} workspaces are paused`,
      over: {
        one: (name) => `Workspace ${name} is no longer paused`,
        several: (n) => `${n} workspaces are no longer paused`,
      },
    },
    metric: 'pigeonpost_workspace_paused',
    rule: 'PigeonpostWorkspacePaused',
    runbook: 'workspace-paused',
  },
  'workspace-waiting': {
    kind: 'workspace',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `The service asked workspace ${name} to wait until ${formatInstant(facts['waitUntil'])}`,
      says: 'pigeonpost reads nothing of the workspace until then.',
      todo: `To try now, run "pigeonpost try-now workspace:${name}".`,
    }),
    help: (found) => button('Try now', 'try-now', found),
    page: 'subject',
    state: null,
    group: null,
    isIntended: true,
    ready: { check: 'running', state: 'warning' },
    alert: null,
    metric: null,
    rule: null,
    runbook: 'reading-the-status',
  },
  'quota-used-up': {
    kind: 'workspace',
    severity: 'error',
    stops: true,
    words: (name, facts) => ({
      title: `The request quota of workspace ${name} is used up`,
      says: `pigeonpost reads nothing of the workspace ${quotaReturns(facts)}, then tries again and continues where it stopped.`,
      todo: `If the quota was raised, run "pigeonpost try-now workspace:${name}". ${needLess}`,
    }),
    help: (found) => button('Try now', 'try-now', found),
    page: 'subject',
    state: null,
    group: null,
    isIntended: true,
    ready: { check: 'running', state: 'failed' },
    alert: {
      ...immediately,
      occasion: 'quota-used-up',
      minWaitMs: 60_000, // a shorter wait ends before an operator could act
      common: (facts) => `pigeonpost reads nothing of them ${quotaReturns(facts)}.`,
      several: (n) => `The request quotas of ${n} workspaces are used up`,
      over: {
        one: (name) => `The request quota of workspace ${name} is no longer used up`,
        several: (n) => `The request quotas of ${n} workspaces are no longer used up`,
      },
    },
    metric: 'pigeonpost_quota_wait_seconds',
    rule: 'PigeonpostQuotaUsedUp',
    runbook: 'quota-used-up',
  },
  'quota-short': {
    kind: 'workspace',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `The request quota of workspace ${name} is too small for the configured intervals`,
      says: `${quotaLeft(facts)} ${lengthened(facts)}Reading stops when only the requests reserved for imports are left.`,
      todo: needLess,
    }),
    help: () => link('Show the quota', '/api/quota'),
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'warning' },
    alert: {
      ...immediately,
      occasion: 'quota-short',
      several: (n) => `The request quotas of ${n} workspaces are too small for the configured intervals`,
      over: {
        one: (name) => `The request quota of workspace ${name} is sufficient again`,
        several: (n) => `The request quotas of ${n} workspaces are sufficient again`,
      },
    },
    metric: 'pigeonpost_quota_interval_factor',
    rule: 'PigeonpostQuotaShort',
    runbook: 'quota-short',
  },
  'drop-folder-unreadable': {
    kind: 'workspace',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `Workspace ${name} has ${counted(facts['folders'], 'drop folder')} that cannot be read`,
      says: 'pigeonpost imports no files from there. Everything else continues.',
      todo: 'Create the folder or mount its volume, and check its permissions. pigeonpost tries again every few seconds.',
    }),
    help: () => null,
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: null,
    alert: null,
    metric: null,
    rule: null,
    runbook: 'reading-the-status',
  },
  'pigeonhole-paused': {
    kind: 'pigeonhole',
    severity: 'error',
    stops: true,
    words: (name, facts) => ({
      title: capital(`${pigeonhole(name)} is paused`),
      says: readsNothing(facts),
      todo: `To continue, run "pigeonpost resume pigeonhole:${name}".`,
    }),
    help: liftPause,
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'failed' },
    alert: null,
    metric: 'pigeonpost_pigeonholes',
    rule: null,
    runbook: 'reading-the-status',
  },
  'pigeonhole-failing': {
    kind: 'pigeonhole',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `pigeonpost cannot read ${counted(facts['failing'], 'list')} of ${pigeonhole(name)}`,
      says: 'The other lists continue. Each failing list is tried again.',
      todo: `To try now, run "pigeonpost poll-now pigeonhole:${name}".`,
    }),
    help: readNow,
    page: 'subject',
    state: null,
    group: {
      isOneCause: false,
      title: (workspace, { events, lists }) => `pigeonpost cannot read ${lists} of ${events} of workspace ${workspace}`,
      says: null,
      advice: (workspace) => `To try now, run "pigeonpost poll-now workspace:${workspace}".`,
      readAll: true,
    },
    isIntended: false,
    ready: { check: 'reading', state: 'failed' },
    alert: null,
    metric: 'pigeonpost_pigeonholes',
    rule: null,
    runbook: 'reading-the-status',
  },
  'pigeonhole-gone': {
    kind: 'pigeonhole',
    severity: 'notice',
    stops: false,
    words: (name) => ({
      title: capital(`${pigeonhole(name)} was deleted in the service`),
      says: 'The ledger keeps what was already read.',
      todo: null,
    }),
    help: () => null,
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: null,
    alert: null,
    metric: null,
    rule: null,
    runbook: 'reading-the-status',
  },
  'reading-late': {
    kind: 'pigeonhole',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `${counted(facts['streams'], 'list')} of ${pigeonhole(name)} should have been read at ${formatInstant(facts['dueAt'])}`,
      says: null,
      todo: `If more lists become late, start another worker, use a faster machine or set longer intervals ("every"). To read now, run "pigeonpost poll-now pigeonhole:${name}".`,
    }),
    help: readNow,
    page: 'subject',
    state: 'late',
    group: {
      isOneCause: true, // the process or the machine is too slow
      title: (workspace, { events, lists }) => `${lists} of ${events} of workspace ${workspace} are late`,
      // A worker runs: otherwise the process would report that, and late lists would not be a problem of their own.
      says: (isShort) =>
        isShort
          ? 'The request quota of the workspace is short, so lists are read less often than configured.'
          : 'A worker runs, but does not keep up: the machine is too slow for this number of events, or the service answers slowly.',
      advice: (workspace) =>
        `Start another worker or use a faster machine, or set longer intervals ("every"). To read now, run "pigeonpost poll-now workspace:${workspace}".`,
      readAll: true,
    },
    isIntended: false,
    ready: { check: 'reading', state: 'failed' },
    alert: {
      ...immediately,
      occasion: 'reading-late',
      afterMs: 180_000, // a list that is late for a shorter time may be read in a moment
      several: (n) => `Lists of ${n} pigeonholes are not read in time`,
      over: {
        one: (name) => `Every list of pigeonhole ${name} is read in time again`,
        several: (n) => `Every list of ${n} pigeonholes is read in time again`,
      },
    },
    metric: 'pigeonpost_read_late_seconds',
    rule: 'PigeonpostReadingStale',
    runbook: 'reading-late',
  },
  'deletions-held': {
    kind: 'pigeonhole',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `${counted(facts['items'], 'deletion')} in ${pigeonhole(name)} ${facts['items'] === 1 ? 'waits' : 'wait'} for an operator`,
      says: 'Unusually many items disappeared, which may be a mistake. No sink receives the deletions until an operator decides.',
      todo: 'Run "pigeonpost deletions list", then confirm or reject them.',
    }),
    help: () => link('Show the deletions', '/api/deletions'),
    page: 'deletions',
    state: null,
    group: null,
    isIntended: false,
    ready: null,
    alert: {
      ...immediately,
      occasion: 'deletions-held',
      listedBy: 'pigeonpost deletions list',
      several: (n, { items }) => `${counted(items, 'deletion')} in ${n} pigeonholes wait for an operator`,
      over: {
        one: (name) => `No deletions of pigeonhole ${name} wait any longer`,
        several: (n) => `No deletions of ${n} pigeonholes wait any longer`,
      },
    },
    metric: 'pigeonpost_held_deletions',
    rule: 'PigeonpostDeletionsHeld',
    runbook: 'deletions-held',
  },
  'filters-ignored': {
    kind: 'pigeonhole',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `The service ignores filter[sessionId] in ${pigeonhole(name)}`,
      says: `${counted(facts['rows'], 'row')} of other sessions ${facts['rows'] === 1 ? 'was' : 'were'} set aside. pigeonpost records no deletions in these lists.`,
      todo: null,
    }),
    help: (found) => link('Show the streams', `${placeOf(found)}/streams`),
    page: 'subject',
    state: null,
    group: {
      isOneCause: false,
      title: (workspace, { events }) => `The service ignores filter[sessionId] in ${events} of workspace ${workspace}`,
      says: null,
      advice: null,
      readAll: false,
    },
    isIntended: false,
    ready: null,
    alert: null,
    metric: 'pigeonpost_foreign_rows',
    rule: null,
    runbook: 'reading-the-status',
  },
  'rows-set-aside': {
    kind: 'pigeonhole',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `The service shows ${counted(facts['rows'], 'row')} without a usable id in ${pigeonhole(name)}`,
      says: `pigeonpost cannot tell which ${facts['rows'] === 1 ? 'item this is' : 'items these are'}. Until the service shows usable ids, it ignores these rows, and reports no item of these lists as deleted only because a read lacks it.`,
      todo: null,
    }),
    help: (found) => link('Show the streams', `${placeOf(found)}/streams`),
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: null,
    alert: null,
    metric: 'pigeonpost_rows_set_aside',
    rule: null,
    runbook: 'reading-the-status',
  },
  'unknown-sessions': {
    kind: 'pigeonhole',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `The service shows ${counted(facts['rows'], 'row')} of unknown sessions in ${pigeonhole(name)}`,
      says: `The service does not list these sessions for the pigeonhole, so the rows may belong to another one. pigeonpost ignores them, and records no deletions in these lists.`,
      todo: null,
    }),
    help: (found) => link('Show the streams', `${placeOf(found)}/streams`),
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: null,
    alert: null,
    metric: 'pigeonpost_foreign_rows',
    rule: null,
    runbook: 'reading-the-status',
  },
  'sink-paused': {
    kind: 'sink',
    severity: 'error',
    stops: true,
    words: sinkPaused,
    help: liftPause,
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'failed' },
    alert: {
      ...immediately,
      occasion: 'sink-paused',
      common: commonPause,
      several: (n) => `${n} sinks are paused`,
      over: {
        one: (name) => `Sink ${name} is no longer paused`,
        several: (n) => `${n} sinks are no longer paused`,
      },
    },
    metric: 'pigeonpost_sink_paused',
    rule: 'PigeonpostSinkPaused',
    runbook: 'sink-paused',
  },
  'sink-failing': {
    kind: 'sink',
    severity: 'error',
    stops: true,
    words: sinkFailing,
    help: (found) => button('Try now', 'try-now', found),
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'failed' },
    alert: null,
    metric: 'pigeonpost_sink_failing',
    rule: null,
    runbook: 'behind',
  },
  'sink-behind': {
    kind: 'sink',
    severity: 'warning',
    stops: false,
    words: sinkBehind,
    help: (found) => link('Show its backlog', placeOf(found)),
    page: 'lanes',
    state: 'behind',
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'warning' },
    alert: {
      ...immediately,
      occasion: 'behind',
      common: ({ cause }) => (cause == null ? null : `The destination of each ${failureWords(String(cause))}.`),
      several: (n, { problem }) => `${n} sinks ${problem === 'sink-failing' ? 'accept nothing' : 'are behind'}`,
      over: {
        one: (name) => `Sink ${name} is no longer behind: no change waits longer than the limit`,
        several: (n) => `${n} sinks are no longer behind: no change waits longer than the limit`,
      },
    },
    metric: 'pigeonpost_undelivered_age_seconds',
    rule: 'PigeonpostBehind',
    runbook: 'behind',
  },
  'sink-withholding': {
    kind: 'sink',
    severity: 'error',
    stops: false,
    words: sinkWithholding,
    help: (found) => link('Preview what it would send', placeOf(found)),
    page: 'preview',
    state: 'withholds too much',
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'failed' },
    alert: {
      ...immediately,
      occasion: 'withholding',
      several: (n) => `${n} sinks withhold what they should probably send`,
      over: {
        one: (name) => `Sink ${name} no longer withholds what it should send`,
        several: (n) => `${n} sinks no longer withhold what they should send`,
      },
    },
    metric: 'pigeonpost_sink_withholding',
    rule: 'PigeonpostSinkWithholding',
    runbook: 'withholding',
  },
  'event-withheld': {
    kind: 'sink',
    severity: 'notice',
    stops: false,
    words: (name, facts) => ({
      title: `Sink ${name} receives none of a list of one event: ${String(facts['text'])}`,
      says: 'Other events are not affected.',
      todo: 'If the event should have these values, add them in the service, or let the mapping read the field that the event has.',
    }),
    help: (found) => link('Preview what it would send', placeOf(found)),
    page: 'preview',
    state: null,
    group: null,
    isIntended: false,
    ready: null,
    alert: null,
    metric: null,
    rule: null,
    runbook: 'reading-the-status',
  },
  'sink-observing': {
    kind: 'sink',
    severity: 'notice',
    stops: false,
    words: (name) => ({
      title: `Sink ${name} observes and sends nothing`,
      says: null,
      todo: `Check what it would send ("pigeonpost preview --sink ${name}"), then run "pigeonpost sink approve ${name}".`,
    }),
    help: (found) => button('Start sending…', 'approve', found),
    page: 'subject',
    state: null,
    group: null,
    isIntended: false,
    ready: { check: 'running', state: 'warning' },
    alert: null,
    metric: null,
    rule: null,
    runbook: 'try-a-sink-without-sending',
  },
  'dead-letters': {
    kind: 'sink',
    severity: 'warning',
    stops: false,
    words: deadLetters,
    help: ({ name }) => link('Show the dead letters', `/api/dead-letters?sink=${name}`),
    page: 'dead-letters',
    state: 'dead letters',
    group: null,
    isIntended: false,
    ready: null,
    alert: {
      ...immediately,
      occasion: 'dead-letters',
      counts: 'letters',
      listedBy: 'pigeonpost dead-letters list',
      several: (n, { letters }) => `${n} sinks have refused ${counted(letters, 'change')}`,
      over: {
        one: (name) => `Sink ${name} has fewer dead letters again`,
        several: (n) => `${n} sinks have fewer dead letters again`,
      },
    },
    metric: 'pigeonpost_dead_letters',
    rule: 'PigeonpostDeadLetters',
    runbook: 'dead-letters',
  },
  'parity-differs': {
    kind: 'sink',
    severity: 'warning',
    stops: false,
    words: parityDiffers,
    help: ({ name }) => link('Show the differences', `/api/sinks/${name}/parity`),
    page: 'parity',
    state: 'differs from what was delivered',
    group: null,
    isIntended: false,
    ready: null,
    alert: {
      ...immediately,
      occasion: 'parity',
      listedBy: 'pigeonpost status',
      several: (n) => `${n} destinations differ from what was delivered`,
      over: {
        one: (name) => `The destination of sink ${name} agrees with what was delivered again`,
        several: (n) => `${n} destinations agree with what was delivered again`,
      },
    },
    metric: 'pigeonpost_parity_differences',
    rule: 'PigeonpostParity',
    runbook: 'parity',
  },
  'export-failing': {
    kind: 'sink',
    severity: 'warning',
    stops: false,
    words: (name, facts) => ({
      title: `Nightly exports to sink ${name} fail for ${counted(facts['pigeonholes'], 'pigeonhole')}`,
      says: 'pigeonpost tries them again every ten minutes. Deliveries are not affected.',
      todo: `Check the folder or bucket of the sink: its permissions, its free space, and its credentials. "pigeonpost check" tests the sink.`,
    }),
    help: () => null,
    page: 'subject',
    state: 'cannot write its nightly exports',
    group: null,
    isIntended: false,
    ready: null,
    alert: {
      ...immediately,
      occasion: 'nightly-export',
      afterMs: 30 * 60_000, // two further attempts
      several: (n) => `Nightly exports to ${n} sinks fail`,
      over: {
        one: (name) => `Nightly exports to sink ${name} are written again`,
        several: (n) => `Nightly exports to ${n} sinks are written again`,
      },
    },
    metric: null,
    rule: null,
    runbook: 'nightly-export',
  },
} satisfies Readonly<Record<string, ProblemTraits>>;

type Catalogue = typeof catalogue;

/**
 * Codes are a contract with programs: `GET /api/status`, the label `code` of `pigeonpost_problems`. Never rename one.
 */
export type ProblemCode = keyof Catalogue;
export const problemCodes = Object.keys(catalogue) as readonly ProblemCode[];

/** Returns everything that is known about a kind of problem. */
export function traitsOf(code: ProblemCode): ProblemTraits {
  return catalogue[code];
}

const events = {
  'import-ended': {
    occasion: 'import-ended',
    words: importEnded,
    page: { one: (id) => `/imports/${id}`, several: '/imports' },
    several: (n) => `${n} imports have ended`,
    common: () => null,
    listedBy: 'pigeonpost import list',
  },
  'closing-statement': {
    occasion: 'closing-statement',
    words: closingStatement,
    page: { one: (number) => `/statements/${number}`, several: '/' },
    several: (n) => `${n} closing statements are ready`,
    common: () => null,
    listedBy: 'pigeonpost status',
  },
} satisfies Readonly<Record<string, EventTraits>>;

export type EventCode = keyof typeof events;
export const eventCodes = Object.keys(events) as readonly EventCode[];

/** Problems that raise an alert. */
export type AlertingProblem = {
  [Code in ProblemCode]: Catalogue[Code]['alert'] extends null ? never : Code;
}[ProblemCode];

/** Code of an alert, as the ledger stores it. */
export type AlertCode = AlertingProblem | EventCode;

/** Says whether a problem raises an alert. */
export function isAlerting(code: ProblemCode): code is AlertingProblem {
  return catalogue[code].alert !== null;
}

/** Says whether a code is that of something that happens once, and not of a problem. */
export function isEvent(code: AlertCode): code is EventCode {
  return code in events;
}

/** Returns what is known about something that happens once. */
export function eventTraits(code: EventCode): EventTraits {
  return events[code];
}

/** Returns what is known about the alerts of a problem. */
export function alertOf(code: AlertingProblem): AlertTraits {
  return catalogue[code].alert;
}

/** Returns what is known about the messages of a problem or an event. */
export function messageTraits(code: AlertCode): SharedAlertTraits {
  return isEvent(code) ? eventTraits(code) : alertOf(code);
}

export const alertingProblems: readonly AlertingProblem[] = problemCodes.filter(isAlerting);
/** All codes that an alert can have. */
export const alertCodes: readonly AlertCode[] = [...alertingProblems, ...eventCodes];

/** Rules of `deploy/alerts.yml` about conditions that no process reports as a problem, each with its section of `docs/operations.md`. */
export const rulesBeyondProblems = {
  PigeonpostDown: 'nothing-answers',
  PigeonpostProcessDown: 'one-process-does-not-answer',
  PigeonpostStoreUnreachable: 'the-store-does-not-answer',
  PigeonpostServiceErrors: 'requests-fail',
  PigeonpostSweepOld: 'sweeps-are-old',
  PigeonpostDetectionSlow: 'new-items-are-found-late',
  PigeonpostAlertsNotTaken: 'alerts-do-not-arrive',
  PigeonpostWorkersBusy: 'workers-have-no-free-slots',
} as const;

/** Returns the page that shows a problem, as an address without `#`; null: no page does. Pure. */
export function pageOf(page: ProblemTraits['page'], kind: SubjectKind, name: string): string | null {
  if (page === 'deletions') return '/deletions';
  const path = name.split('/').map(encodeURIComponent).join('/');
  if (kind === 'workspace') return `/workspace/${path}`;
  if (kind === 'pigeonhole') return `/sync/${path}`;
  return kind === 'sink' ? `/sink/${path}${page === 'subject' ? '' : `?part=${page}`}` : null;
}

function liftPause(found: Subject): Help | null {
  return found.facts['cause'] === 'credential'
    ? button('Try now', 'try-now', found)
    : button('Resume', 'resume', found);
}

function readNow(found: Subject): Help | null {
  return button('Read now', 'poll-now', found);
}

function button(label: string, verb: Action['do'], found: Subject): Help | null {
  const { kind, name } = found;
  return kind === 'process' ? null : { label, action: { do: verb, kind, name }, see: placeOf(found) };
}

function link(label: string, see: string | null): Help | null {
  return { label, action: null, see };
}

function placeOf({ kind, name }: Subject): string | null {
  if (kind === 'sink') return `/api/sinks/${name}`;
  return kind === 'pigeonhole' ? `/api/pigeonholes/${name}` : null;
}
