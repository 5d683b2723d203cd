import { useState } from 'preact/hooks';
import type { EventSinkView, EventStoryView, SessionView } from '../../api/event-story.js';
import type { Readiness } from '../../operations/ready/readiness.js';
import { countedItems } from '../../base/item-titles.js';
import { questionLists } from '../../base/lists.js';
import { counted, grouped } from '../../base/words.js';
import { get, refusalOf } from '../asking/ask.js';
import { serverNow, useMay } from '../asking/page-state.js';
import { useAsked, type Asked } from '../asking/use-asked.js';
import { daysOfSessions, knownZone, type PlacedSession, type SessionDay } from '../days-of-sessions.js';
import { address } from '../route.js';
import type { ToneAndWord } from '../words.js';
import { Button } from './controls.js';
import { AskedPanel, AwaitAnswer, named, Panel, Refusal, Table, type Column } from './panel.js';
import { ImportState, StateWord } from './states.js';
import { Ago } from './time.js';

interface EventName {
  readonly workspace: string;
  readonly id: string;
}

interface StoryProps {
  readonly place: EventName;
  readonly asked: Asked<EventStoryView>;
}

/** The sessions of an event in time, what each sink has of it, its statement, readiness and imports. */
export function EventPanels({ place, asked }: StoryProps) {
  return (
    <>
      <AskedPanel title="Sessions" id="sessions" asked={asked} lines={6} aside={(story) => totals(story)}>
        {(story) => <Sessions story={story} place={place} />}
      </AskedPanel>
      <AskedPanel title="What each destination has" id="destinations" asked={asked} lines={3}>
        {({ sinks }) => (
          <Table
            columns={sinkColumns}
            rows={sinks}
            keyOf={({ sink }) => sink}
            empty="No sink receives data of this event. A sync in pigeonpost.yaml names its sinks."
          />
        )}
      </AskedPanel>
      <div class="columns">
        <ReadinessPanel {...place} />
        <StatementPanel {...place} />
        <Panel title="Imports" id="imports">
          <AwaitAnswer asked={asked} lines={2}>
            {({ imports }) => <Imports imports={imports} place={place} />}
          </AwaitAnswer>
        </Panel>
      </div>
    </>
  );
}

/** Returns the number of people and of questions, which both lists of questions hold. */
function totals({ items }: Pick<EventStoryView, 'items'>): string {
  const questions = Math.max(0, ...[...questionLists].map((list) => items[list] ?? 0));
  return [countedItems(items['attendees'] ?? 0, 'attendees'), countedItems(questions, 'questions')].join(', ');
}

/** Returns the items of a session in words, such as `24 questions, 340 votes`. */
function activityOf(items: SessionView['items']): string {
  const counts = Object.entries(items).filter(([list]) => list !== 'questions' || items['qna-questions'] === undefined);
  return counts.map(([list, n]) => countedItems(n, list)).join(', ') || 'nothing yet';
}

const atFirst = 40;

function Sessions({ story, place }: { readonly story: EventStoryView; readonly place: EventName }) {
  const [all, setAll] = useState(false);
  const { sessions, timezone } = story;
  if (sessions.length === 0) return <p class="empty">The event has no sessions yet.</p>;
  const shown = all ? sessions : sessions.slice(0, atFirst);
  const days = daysOfSessions(shown, timezone);
  const untimed = shown.filter(({ startsAt }) => startsAt === null);
  return (
    <>
      {days.map((day) => (
        <Day key={day.label} day={day} timezone={timezone} place={place} />
      ))}
      {untimed.length === 0 ? null : (
        <ul class="inside list">
          {untimed.map((session) => (
            <li key={session.sessionId}>
              <SessionLink session={session} place={place} /> <small>{activityOf(session.items)}</small>
            </li>
          ))}
        </ul>
      )}
      {sessions.length <= atFirst ? null : (
        <p class="empty more">
          <Button look="link" onPress={() => setAll(!all)}>
            {all ? 'Show fewer sessions' : `Show all ${counted(sessions.length, 'session')}`}
          </Button>
        </p>
      )}
    </>
  );
}

interface DayProps {
  readonly day: SessionDay<SessionView>;
  readonly timezone: string | null;
  readonly place: EventName;
}

function Day({ day, timezone, place }: DayProps) {
  const now = (serverNow() - day.startMs) / (day.endMs - day.startMs);
  return (
    <div class="day">
      <h3>
        {day.label} <small>times of {knownZone(timezone)}</small>
      </h3>
      <div class="axis" aria-hidden="true">
        <div class="times">
          {day.ticks.map(({ at, label }) => (
            <span key={at}>{label}</span>
          ))}
        </div>
      </div>
      <ul>
        {day.sessions.map((placed) => (
          <SessionRow key={placed.session.sessionId} placed={placed} now={now} place={place} timezone={timezone} />
        ))}
      </ul>
    </div>
  );
}

interface RowProps {
  readonly placed: PlacedSession<SessionView>;
  /** The present as a share of the axis; below 0 or above 1 on other days. */
  readonly now: number;
  readonly timezone: string | null;
  readonly place: EventName;
}

function SessionRow({ placed: { session, from, to }, now, timezone, place }: RowProps) {
  const isNow = now >= from && now <= to;
  const time = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', timeZone: knownZone(timezone) });
  const when = [session.startsAt, session.endsAt].map((at) => (at === null ? '' : time.format(Date.parse(at))));
  return (
    <li>
      <div class="what-session">
        <SessionLink session={session} place={place} />
        <small>
          {when.filter(Boolean).join('–')} · {activityOf(session.items)}
          {isNow ? ' · now' : ''}
        </small>
      </div>
      <svg class="span" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        <rect class={isNow ? 'now' : ''} x={from * 1000} y="2" width={(to - from) * 1000} height="6" rx="2" />
        {now >= 0 && now <= 1 ? <path d={`M${now * 1000} 0v10`} /> : null}
      </svg>
    </li>
  );
}

function SessionLink({
  session,
  place: { workspace, id },
}: {
  readonly session: SessionView;
  readonly place: EventName;
}) {
  return (
    <a class="item-name" href={address.item('sessions', String(session.sessionId), `${workspace}/${id}`)}>
      {session.title ?? `Session ${session.sessionId}`}
    </a>
  );
}

const sinkColumns: readonly Column<EventSinkView>[] = [
  ['Destination', 'name', ({ sink, type }) => named(<a href={address.sink(sink)}>{sink}</a>, type)],
  ['State', '', (sink) => <StateWord of={stateOf(sink)} />],
  [
    'Delivered',
    'number',
    ({ delivered, deliveredAt }) => (
      <>
        {grouped(delivered)}
        {deliveredAt === null ? null : (
          <small class="below">
            <Ago at={deliveredAt} />
          </small>
        )}
      </>
    ),
  ],
  ['Waiting', 'number', ({ waiting }) => grouped(waiting)],
  [
    'Refused',
    'number mid',
    ({ refused, sink }) => (refused === 0 ? 0 : <a href={address.sink(sink, 'dead-letters')}>{grouped(refused)}</a>),
  ],
  [
    'Withheld, and why',
    'mid',
    ({ withheld }) =>
      withheld.length === 0 ? (
        'nothing'
      ) : (
        <ul class="list">
          {withheld.map(({ reason, words, changes }) => (
            <li key={reason}>
              {grouped(changes)}: {words}
            </li>
          ))}
        </ul>
      ),
  ],
];

function stateOf({ failure, observes, waiting, refused }: EventSinkView): ToneAndWord {
  if (failure !== null) return ['bad', 'failing'];
  if (observes) return ['quiet', 'only observes'];
  if (waiting > 0) return ['busy', 'sending'];
  return refused > 0 ? ['warning', 'has all but what it refused'] : ['good', 'has everything it may have'];
}

/** Checks on request whether pigeonpost is ready for the event, because a check sends requests to the service and each sink. */
function ReadinessPanel({ workspace, id }: EventName) {
  const [found, setFound] = useState<Readiness | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const check = async (): Promise<void> => {
    try {
      setFound(await get('/api/pigeonholes/{id}/ready', { params: { id }, query: { workspace } }));
      setRefused(null);
    } catch (error) {
      setRefused(refusalOf(error, 'pigeonpost cannot be reached'));
    }
  };
  const open = found?.checks.filter(({ state }) => state !== 'ok') ?? [];
  return (
    <Panel title="Readiness" id="readiness" aside={<a href={address.ready(workspace, id)}>All checks</a>}>
      <div class="inside">
        {refused === null ? null : <Refusal text={refused} />}
        {found === null ? (
          <p class="dim">The check sends requests to the service and to each sink.</p>
        ) : (
          <StateWord
            of={
              !found.ready
                ? ['bad', 'Not ready']
                : open.length === 0
                  ? ['good', 'Ready']
                  : ['warning', `Ready, with ${counted(open.length, 'check')} to review`]
            }
          />
        )}
        <div class="actions">
          <Button onPress={check}>{found === null ? 'Check now' : 'Check again'}</Button>
        </div>
      </div>
    </Panel>
  );
}

function StatementPanel({ workspace, id }: EventName) {
  const asked = useAsked('/api/pigeonholes/{workspace}/{id}/statements', { params: { workspace, id } }, 30_000);
  const all = address.statements(workspace, id);
  return (
    <AskedPanel title="Statement" id="statement" asked={asked} lines={2} aside={() => <a href={all}>Statements</a>}>
      {({ statements: [latest] }) =>
        latest === undefined ? (
          <p class="empty">No statement yet. It reads every list again, and says what each sink received.</p>
        ) : (
          <div class="inside">
            <StateWord
              of={
                latest.completedAt === null
                  ? ['busy', 'being made']
                  : latest.agrees === true
                    ? ['good', 'everything agrees']
                    : ['warning', counted(latest.openPoints, 'open point')]
              }
            />
            <p>
              <a href={address.statement(latest.number)}>Statement {latest.number}</a>, requested{' '}
              <Ago at={latest.requestedAt} />
            </p>
          </div>
        )
      }
    </AskedPanel>
  );
}

function Imports({
  imports,
  place: { workspace, id },
}: {
  readonly imports: EventStoryView['imports'];
  readonly place: EventName;
}) {
  const mayImport = useMay('import');
  return (
    <>
      {imports.length === 0 ? <p class="empty">No file was imported into this event.</p> : null}
      <ul class="inside list">
        {imports.map((view) => (
          <li key={view.id}>
            <a class="file-name" href={address.import(view.id)}>
              {view.file}
            </a>
            <ImportState view={view} /> <small>{counted(view.rows, 'row')}</small>
          </li>
        ))}
        {mayImport ? (
          <li>
            <a class="button" href={address.newImport(`${workspace}/${id}`)}>
              Import a file
            </a>
          </li>
        ) : null}
      </ul>
    </>
  );
}
