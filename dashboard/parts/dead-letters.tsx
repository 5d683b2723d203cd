import { useState } from 'preact/hooks';
import type { DeadLetterGroupView, DeadLetterView, RedrivePlan } from '../../api/dead-letters.js';
import { get, post } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { carryOut, askPerson } from '../asking/act.js';
import { useAsked, useAsking } from '../asking/use-asked.js';
import { address } from '../route.js';
import { counted, grouped } from '../../base/words.js';
import { capitalized } from '../words.js';
import { AwaitAnswer, Panel, Table, type Column, namedItemLink } from './panel.js';
import { Button, PersonalCheck } from './controls.js';
import { ExportDeadLetters } from './export.js';
import { Ago, Sentence } from './time.js';
import { judgeRedrive, openChanges, type RedriveOutcome } from '../../base/judge-redrive.js';
import { StateWord } from './states.js';
import { isMappingCause } from '../../sinks/reason-words.js';

/** Maximum page size of the API. */
const maxShown = 1000;
const maxListed = 20;

/** The dead letters of a sink by cause, each with its meaning, its remedy and a button to redrive. */
export function DeadLetters({ sink }: { readonly sink: string }) {
  const asked = useAsked('/api/dead-letters', { query: { sink } });
  const [redriven, setRedriven] = useState<readonly Redriven[]>([]);
  const all = asked.data?.groups.reduce((sum, { changes }) => sum + changes, 0) ?? 0;
  return (
    <Panel title="Dead letters" id="dead-letters" aside={asked.data === undefined ? undefined : counted(all, 'change')}>
      <AwaitAnswer asked={asked} lines={1}>
        {({ groups }) =>
          groups.length === 0 ? (
            <p class="empty">There are no dead letters.</p>
          ) : (
            <>
              <ul class="causes">
                {groups.map((group) => (
                  <Cause
                    key={`${group.cause} ${group.list}`}
                    group={group}
                    onRedriven={(each) => setRedriven([each, ...redriven].slice(0, 5))}
                  />
                ))}
              </ul>
              <div class="inside actions">
                <ExportDeadLetters sink={sink} />
              </div>
            </>
          )
        }
      </AwaitAnswer>
      {redriven.map((each) => (
        <RedriveOutcomes key={each.at} redriven={each} />
      ))}
    </Panel>
  );
}

interface CauseProps {
  readonly group: DeadLetterGroupView;
  readonly onRedriven: (redriven: Redriven) => void;
}

function Cause({ group, onRedriven }: CauseProps) {
  const { sink, cause, list, changes, meaning, help, detail, oldest, newest } = group;
  const [open, setOpen] = useState(false);
  const mayOperate = useMay('operate');
  // For failed mappings, the main button leads to the configuration. A redrive helps only after the mapping is
  // corrected, and applying the corrected file redrives these dead letters automatically.
  const isMapping = isMappingCause(cause);
  const id = `cause-${list}-${cause}`.replace(/[^A-Za-z0-9]+/g, '-');
  return (
    <li>
      <div class="cause">
        <div>
          <h3>
            <a href={address.deliveries({ sink, show: 'dead', reason: cause, list })}>{counted(changes, 'change')}</a>{' '}
            of {list}: {meaning}
          </h3>
          <dl class="explained">
            <dt>Cause</dt>
            <dd>
              <code>{cause}</code>
            </dd>
            <dt>{isMapping ? 'Error' : 'Answer'}</dt>
            <dd>{detail === null ? <span class="dim">none</span> : <Sentence text={detail} />}</dd>
            <dt>What to do</dt>
            <dd>{capitalized(help)}.</dd>
            <dt>Since</dt>
            <dd>
              <Ago at={oldest} />
              {newest === oldest ? null : (
                <>
                  , newest <Ago at={newest} />
                </>
              )}
            </dd>
          </dl>
        </div>
        <div class="actions">
          <button type="button" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
            {open ? 'Hide' : 'Show'}
          </button>
          {isMapping ? (
            <a class="button main" href={address.configuration}>
              Configuration
            </a>
          ) : null}
          {mayOperate ? (
            <Button {...(isMapping ? {} : { look: 'main' as const })} onPress={() => redrive(group, onRedriven)}>
              Redrive {grouped(changes)}…
            </Button>
          ) : null}
        </div>
      </div>
      <div id={id}>{open ? <Single group={group} /> : null}</div>
    </li>
  );
}

/** Returns the query for the dead letters of a group. */
function itemsOf({ sink, cause, list }: DeadLetterGroupView, limit: number) {
  return { query: { sink, cause, list, limit } };
}

async function redrive(group: DeadLetterGroupView, onRedriven: (redriven: Redriven) => void): Promise<void> {
  const { sink, cause, list, help } = group;
  const plan = await carryOut(
    () => get('/api/dead-letters/plan', { query: { sink, cause, list } }),
    (found) => `${counted(found.changes, 'change')} to send; nothing has been sent yet`,
  );
  if (plan === undefined) return;
  const why = `${isMappingCause(cause) ? 'Their mapping failed' : 'The sink refused them'} (${cause}). ${capitalized(help)}.`;
  const given = await askPerson({
    title: `Send ${counted(plan.changes, 'change')} of ${list} to ${sink} again?`,
    body: <RedrivePlanned plan={plan} why={why} />,
    confirm: 'Redrive',
  });
  if (given === null) return;
  await carryOut(
    async () => {
      const { items } = await get('/api/dead-letters/items', itemsOf(group, maxShown));
      const answer = await post('/api/dead-letters/redrive', { json: { sink, cause, list } });
      onRedriven({ at: Date.now(), sink, list, cause, changes: answer.changes, shown: items });
      return answer;
    },
    (answer) => `${counted(answer.changes, 'change')} of ${list} queued again for ${sink}`,
  );
}

/** The plan of a redrive, before it is confirmed. */
function RedrivePlanned({ plan, why }: { readonly plan: RedrivePlan; readonly why: string }) {
  const { pigeonholes, paused } = plan;
  const sum = (pick: (part: RedrivePlan['pigeonholes'][number]) => number): number =>
    pigeonholes.reduce((total, part) => total + pick(part), 0);
  const [changedSince, mayRepeat, confirmed] = [
    sum((part) => part.changedSince),
    sum((part) => part.mayRepeat),
    sum((part) => part.confirmed),
  ];
  return (
    <>
      <p>{why}</p>
      <ul class="counts">
        {pigeonholes.slice(0, 5).map(({ workspace, pigeonholeId, changes }) => (
          <li key={`${workspace}/${pigeonholeId}`}>
            <b>
              {workspace}/{pigeonholeId}
            </b>
            : {counted(changes, 'change')}
          </li>
        ))}
        {pigeonholes.length <= 5 ? null : <li>and {counted(pigeonholes.length - 5, 'more pigeonhole')}</li>}
      </ul>
      {changedSince === 0 ? null : (
        <p>
          {counted(changedSince, 'item')} changed since: a sink that keeps records receives the present state instead.
        </p>
      )}
      {mayRepeat === 0 ? null : (
        <p>
          <b>{grouped(mayRepeat)} of them may have arrived.</b> Check the destination first, or they may appear twice.
        </p>
      )}
      {confirmed === 0 ? null : (
        <p>
          <b>{grouped(confirmed)} of them remove people</b> who withdrew consent. Sending them confirms these removals.
        </p>
      )}
      {paused ? <p>The sink is paused: nothing is sent before it is resumed.</p> : null}
    </>
  );
}

const columns: readonly Column<DeadLetterView>[] = [
  ['Item', 'name', (each) => namedItemLink(each)],
  ['Revision', 'number', ({ revision }) => revision],
  ['Attempts', 'number mid', ({ attempts }) => grouped(attempts)],
  ['Since', 'number', ({ since }) => <Ago at={since} />],
  ['Answer', 'wide', ({ detail }) => detail ?? '–'],
];

function Single({ group }: { readonly group: DeadLetterGroupView }) {
  const [personal, setPersonal] = useState(false);
  const maySeePeople = useMay('personal');
  const { query } = itemsOf(group, maxListed);
  // With names, each request is audited: they are read once.
  const everyMs = personal ? 3_600_000 : 5000;
  const wanted = { query: { ...query, ...(personal ? { personal: '1' as const } : {}) } };
  const asked = useAsked('/api/dead-letters/items', wanted, everyMs);
  return (
    <AwaitAnswer asked={asked} lines={3}>
      {({ items, more }) => (
        <>
          {maySeePeople ? (
            <div class="inside">
              <PersonalCheck checked={personal} onCheck={setPersonal} />
            </div>
          ) : null}
          <Table
            columns={columns}
            rows={items}
            keyOf={({ workspace, pigeonholeId, key, revision }) => `${workspace}/${pigeonholeId} ${key} ${revision}`}
          />
          {more ? <p class="empty more">These are the oldest {grouped(items.length)}; there are more.</p> : null}
        </>
      )}
    </AwaitAnswer>
  );
}

/** Dead letters that were redriven from this page. */
interface Redriven {
  readonly at: number;
  readonly sink: string;
  readonly list: string;
  readonly cause: string;
  readonly changes: number;
  /** The redriven dead letters, as far as the API lists them. */
  readonly shown: readonly DeadLetterView[];
}

/** Outcomes of a redrive so far. */
function RedriveOutcomes({ redriven }: { readonly redriven: Redriven }) {
  const { at, sink, list, cause, changes } = redriven;
  const { data } = useAsking(`redriven ${at}`, (signal) => readOutcome(redriven, signal), 2000);
  return (
    <p class="redriven" role="status">
      Redrive of {counted(changes, 'change')} of {list} to {sink} (<code>{cause}</code>):{' '}
      {data === undefined ? '…' : <Words outcome={data} />}
      {data === undefined || data.onTheWay === 0 ? null : (
        <progress max={changes} value={changes - data.onTheWay} aria-label="Redriven changes that are settled" />
      )}
    </p>
  );
}

function Words({ outcome: { settled, refusedAgain, onTheWay } }: { readonly outcome: RedriveOutcome }) {
  return (
    <>
      {onTheWay > 0 ? <StateWord of={['busy', `${grouped(onTheWay)} in progress`]} /> : null}{' '}
      {settled > 0 ? <StateWord of={['good', `${grouped(settled)} settled`]} /> : null}{' '}
      {refusedAgain > 0 ? <StateWord of={['bad', `${grouped(refusedAgain)} refused again`]} /> : null}
    </>
  );
}

async function readOutcome(redriven: Redriven, signal: AbortSignal): Promise<RedriveOutcome> {
  const { sink, list } = redriven;
  const { outcomes } = await get('/api/sinks/{name}/outcomes', { params: { name: sink } }, { signal });
  const { items } = await get('/api/dead-letters/items', { query: { sink, list, limit: maxShown } }, { signal });
  return judgeRedrive(redriven, items, openChanges(outcomes, [list]));
}
