import type { StatementView } from '../../api/statements.js';
import type { Destination, OpenPoint, StatementList } from '../../operations/statement/statement.js';
import { counted, grouped } from '../../base/words.js';
import { useState } from 'preact/hooks';
import { carryOut } from '../asking/act.js';
import { askFor, post, saveFile } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { Button, Check } from '../parts/controls.js';
import { AskedPanel, type Column, PageHead, Panel, Table } from '../parts/panel.js';
import { StateWord } from '../parts/states.js';
import { Ago, Sentence } from '../parts/time.js';
import { address } from '../route.js';
import { capitalized, type ToneAndWord } from '../words.js';

interface PigeonholeName {
  readonly workspace: string;
  readonly id: string;
}

/** The statements about an event: the latest one, and the earlier ones. */
export function Statements({ workspace, id }: PigeonholeName) {
  const params = { workspace, id };
  const asked = useAsked('/api/pigeonholes/{workspace}/{id}/statements', { params });
  const statements = asked.data?.statements ?? [];
  const [latest, ...earlier] = statements;
  const mayMake = useMay('operate');
  const [audit, setAudit] = useState(true);
  const isMaking = statements.some(({ completedAt }) => completedAt === null);
  return (
    <>
      <PageHead
        kind={`Statement of ${workspace}/${id}`}
        title="What has arrived"
        note={[
          'Reads every list of the event again, and says what each sink received and why anything is missing there.',
        ]}
      >
        <a class="button" href={address.pigeonhole(workspace, id)}>
          Pigeonhole
        </a>
        {mayMake ? (
          <>
            <Check checked={audit} onCheck={setAudit}>
              Compare with what the destinations hold
            </Check>
            <Button look="main" disabled={isMaking} onPress={() => make(params, audit)}>
              {isMaking ? 'Being made…' : 'Make a statement'}
            </Button>
          </>
        ) : null}
      </PageHead>
      {latest === undefined ? (
        <AskedPanel title="Statement" id="statement" asked={asked} lines={3}>
          {() => <p class="empty">No statement of this event was made yet.</p>}
        </AskedPanel>
      ) : (
        <StatementPanels key={latest.number} number={latest.number} />
      )}
      {earlier.length === 0 ? null : (
        <Panel title="Earlier statements" id="earlier" aside={grouped(earlier.length)}>
          <Table
            columns={[
              ['Statement', 'name', ({ number }) => <a href={address.statement(number)}>{`No. ${number}`}</a>],
              ['Result', '', ({ agrees, openPoints }) => <StateWord of={resultOf(agrees, openPoints)} />],
              ['Made', 'number', ({ completedAt }) => <Ago at={completedAt} never="not yet" />],
            ]}
            rows={earlier}
            keyOf={({ number }) => number}
          />
        </Panel>
      )}
    </>
  );
}

/** One statement, such as the one that an alert names. */
export function OneStatement({ number }: { readonly number: string }) {
  const { data } = useAsked('/api/statements/{number}', { params: { number } }, 60_000);
  return (
    <>
      <PageHead
        kind={data === undefined ? 'Statement' : `Statement of ${data.workspace}/${data.pigeonholeId}`}
        title={`No. ${number}`}
      >
        {data === undefined ? null : (
          <a class="button" href={address.statements(data.workspace, data.pigeonholeId)}>
            All statements
          </a>
        )}
      </PageHead>
      <StatementPanels number={number} />
    </>
  );
}

async function make(params: PigeonholeName, audit: boolean): Promise<void> {
  await carryOut(
    () => post('/api/pigeonholes/{workspace}/{id}/statements', { params, json: { audit } }),
    () => 'every list of the event is being read again',
  );
}

function resultOf(agrees: boolean | null, openPoints: number | null): ToneAndWord {
  if (agrees === null) return ['busy', 'being made'];
  return agrees ? ['good', 'every item is accounted for'] : ['warning', `${counted(openPoints, 'open point')}`];
}

function StatementPanels({ number }: { readonly number: number | string }) {
  const asked = useAsked('/api/statements/{number}', { params: { number } }, 1000);
  const signed = asked.data?.signed ?? null;
  return (
    <>
      <AskedPanel
        title={`Statement no. ${number}`}
        id="statement"
        asked={asked}
        lines={4}
        aside={(view) => (view.completedAt === null ? 'being made' : <Ago at={view.completedAt} />)}
      >
        {(view) => <Result view={view} />}
      </AskedPanel>
      {signed === null ? null : (
        <>
          {signed.statement.open.length === 0 ? null : (
            <Panel title="What is open" id="open" aside={grouped(signed.statement.open.length)}>
              <Table
                columns={openColumns}
                rows={signed.statement.open}
                keyOf={({ where, text }) => `${where} ${text}`}
              />
            </Panel>
          )}
          <Panel title="From the event service to pigeonpost" id="source">
            <Table
              columns={sourceColumns}
              rows={signed.statement.source.lists}
              keyOf={({ list }) => list}
              belowRow={differencesOf}
            />
          </Panel>
          {signed.statement.destinations.map((destination) => (
            <DestinationPanel key={destination.name} destination={destination} />
          ))}
        </>
      )}
    </>
  );
}

function Result({ view: { progress, says, number, signed } }: { readonly view: StatementView }) {
  if (says === null || signed === null) {
    return <div class="inside">{progress === null ? null : <p>{progressText(progress)}</p>}</div>;
  }
  const { agrees, open } = signed.statement;
  return (
    <div class="inside">
      <p>
        <StateWord of={resultOf(agrees, open.length)} />
      </p>
      <p>{says.summary}</p>
      <p>{says.coverage}</p>
      <p class="actions">
        <Button look="main" onPress={() => save(number, 'html')}>
          Save for printing
        </Button>{' '}
        <Button onPress={() => save(number, 'json')}>Save as JSON</Button>{' '}
        <Button onPress={() => save(number, 'csv')}>Save the differences</Button>
      </p>
      <p class="dim">
        {`Signed with the key ${signed.signature.key}. To check a saved statement: `}
        <Sentence text={`"pigeonpost statement verify FILE --key KEY"`} />
      </p>
    </div>
  );
}

function progressText({ lists, read, blocked, audits }: NonNullable<StatementView['progress']>): string {
  if (audits !== null) {
    const { destinations, done, checked, total } = audits;
    return `What the destinations hold is being compared with what was delivered: ${done} of ${counted(destinations, 'destination')} so far, ${grouped(checked)} of ${counted(total, 'item')}.`;
  }
  if (blocked !== null) return capitalized(`the lists cannot be read now: ${blocked}.`);
  return `Every list is being read again: ${read} of ${counted(lists, 'list')} so far. Then pigeonpost waits up to 90 s for deliveries.`;
}

async function save(number: number, format: 'html' | 'json' | 'csv'): Promise<void> {
  const name = format === 'csv' ? `statement-${number}-differences.csv` : `statement-${number}.${format}`;
  await carryOut(
    async () => saveFile(await askFor(`/api/statements/${number}/file?format=${format}`), name),
    () => `${name} was saved`,
  );
}

const openColumns: readonly Column<OpenPoint>[] = [
  ['Where', 'name', ({ where }) => where],
  ['Items', 'number', ({ items }) => (items === null ? '–' : grouped(items))],
  ['What', '', ({ text }) => capitalized(text)],
  ['What to do', 'mid', ({ todo }) => <Sentence text={todo} />],
];

const sourceColumns: readonly Column<StatementList>[] = [
  ['List', 'name', ({ label }) => label],
  ['In the event service', 'number', ({ shown }) => grouped(shown)],
  ['In pigeonpost', 'number', ({ held }) => grouped(held)],
  [
    'Result',
    '',
    ({ differences, readFrom }) => (
      <StateWord
        of={
          differences.some(({ open }) => open)
            ? ['warning', 'differs']
            : readFrom === null
              ? ['quiet', 'not read again']
              : ['good', differences.length === 0 ? 'agrees' : 'explained']
        }
      />
    ),
  ],
];

function differencesOf({ differences }: StatementList) {
  if (differences.length === 0) return null;
  return differences.map(({ items, text }) => `${grouped(Math.abs(items))} ${text}`).join('; ');
}

type DestinationList = Destination['lists'][number];

const destinationColumns: readonly Column<DestinationList>[] = [
  ['List', 'name', ({ label }) => label],
  ['Items', 'number', ({ items }) => grouped(items)],
  ['Delivered', 'number', ({ delivered }) => grouped(delivered)],
  ['Withheld', 'number', ({ withheld }) => grouped(withheld)],
  ['Refused', 'number mid', ({ refused }) => grouped(refused)],
  ['Waiting', 'number mid', ({ waiting }) => grouped(waiting)],
  ['Other', 'number mid', ({ unsent }) => grouped(unsent)],
];

function DestinationPanel({ destination: { name, type, lists, parity } }: { readonly destination: Destination }) {
  return (
    <Panel title={`At ${name}`} id={`at-${name}`} aside={type}>
      <Table
        columns={destinationColumns}
        rows={lists}
        keyOf={({ list }) => list}
        belowRow={({ reasons }) =>
          reasons.length === 0 ? null : reasons.map(({ items, text }) => `${grouped(items)}: ${text}`).join('; ')
        }
      />
      {parity === null ? null : (
        <div class="inside late">
          <p>
            {`Of ${counted(parity.compared, 'delivered item')} that were compared with what ${name} holds, ${grouped(parity.same)} are there as sent. Compared: `}
            <Ago at={parity.comparedAt} />
          </p>
        </div>
      )}
    </Panel>
  );
}
