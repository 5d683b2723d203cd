import type { WholeErasureView } from '../../api/erasures.js';
import { erasureOutcomeWords, placeOfReceipt } from '../../base/erasure-words.js';
import { grouped } from '../../base/words.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { AwaitAnswer, Facts, PageHead, Panel, Table, type Column } from '../parts/panel.js';
import { StateWord } from '../parts/states.js';
import { Ago, Clock } from '../parts/time.js';
import { address } from '../route.js';
import { capitalized, type ToneAndWord } from '../words.js';

/** The progress of a request to forget a person, with a receipt for each place. It names nobody. */
export function Erasure({ id }: { readonly id: string }) {
  const mayErase = useMay('erase');
  const asked = useAsked(mayErase ? '/api/erasures/{id}' : null, { params: { id } }, 1500);
  return (
    <>
      <PageHead
        kind="Forgetting a person"
        title={asked.data === undefined ? 'Receipts' : asked.data.state === 'done' ? 'Forgotten' : 'Being forgotten'}
        note={[<StateWord of={stateOf(asked.data)} />, <a href={address.people}>People</a>]}
      />
      {mayErase ? (
        <AwaitAnswer asked={asked} lines={6}>
          {(erasure) => <Receipts erasure={erasure} />}
        </AwaitAnswer>
      ) : (
        <Panel title="Receipts are not shown" id="not-shown">
          <p>
            Only the roles <b>privacy</b> and <b>admin</b> forget people and see the receipts.
          </p>
        </Panel>
      )}
    </>
  );
}

function stateOf(erasure: WholeErasureView | undefined): ToneAndWord {
  if (erasure === undefined) return ['quiet', 'loading'];
  const byHand = erasure.receipts.filter(({ outcome }) => outcome === 'by-hand').length;
  if (erasure.state === 'running') return ['busy', 'in progress; you can leave this page'];
  return byHand === 0
    ? ['good', 'every place has answered']
    : ['warning', 'done, except for what remains to be done by hand'];
}

function Receipts({ erasure }: { readonly erasure: WholeErasureView }) {
  const { id, receipts, requestedAt, clearedAt, endedAt, requestedBy } = erasure;
  const answered = receipts.filter(({ outcome }) => outcome !== 'waiting').length;
  const todo = receipts.filter((receipt) => receipt.todo !== null);
  return (
    <>
      <Panel title="Progress" id="progress">
        <div class="inside">
          <progress
            max={3}
            value={endedAt !== null ? 3 : clearedAt !== null ? 2 : 1}
            aria-label={endedAt !== null ? 'done' : clearedAt !== null ? 'step 3 of 3' : 'step 2 of 3'}
          />
        </div>
        <Facts
          facts={[
            ['Requested', <Ago at={requestedAt} />, requestedBy === null ? null : `by ${requestedBy}`],
            ['Ledger emptied', clearedAt === null ? 'in progress' : <Clock at={clearedAt} />],
            [
              'Every place has answered',
              endedAt === null ? 'in progress' : <Clock at={endedAt} />,
              receipts.length === 0 ? null : `${grouped(answered)} of ${grouped(receipts.length)}`,
            ],
          ]}
        />
      </Panel>
      {todo.length === 0 ? null : (
        <Panel title="To do by hand" id="by-hand">
          <ul class="inside list">
            {todo.map((receipt) => (
              <li key={receipt.place}>
                <b>{capitalized(placeOfReceipt(receipt.place))}</b>: {receipt.todo}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title="Receipts" id="receipts" aside={<code>{id}</code>}>
        <Table
          columns={receiptColumns}
          rows={receipts}
          keyOf={({ place }) => place}
          empty="The first place is about to answer."
        />
      </Panel>
    </>
  );
}

type Receipt = WholeErasureView['receipts'][number];

const tones: Readonly<Record<Receipt['outcome'], ToneAndWord[0]>> = {
  erased: 'good',
  told: 'good',
  nothing: 'quiet',
  waiting: 'busy',
  'by-hand': 'warning',
};

const receiptColumns: readonly Column<Receipt>[] = [
  ['Place', 'name', ({ place }) => capitalized(placeOfReceipt(place))],
  [
    'Outcome',
    '',
    ({ outcome, detail }) => (
      <>
        <StateWord of={[tones[outcome], erasureOutcomeWords[outcome]]} />
        {detail === null ? null : <small class="below">{detail}</small>}
      </>
    ),
  ],
  ['Records', 'number', ({ count }) => grouped(count)],
  ['Answered', 'number mid', ({ at, outcome }) => (outcome === 'waiting' ? '–' : <Clock at={at} />)],
];
