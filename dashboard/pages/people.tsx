import { useState } from 'preact/hooks';
import type { HitView } from '../../api/find.js';
import { listsOfPeople } from '../../base/lists.js';
import { counted } from '../../base/words.js';
import { post, refusalOf } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { Field } from '../parts/controls.js';
import { AskedPanel, PageHead, Panel, Refusal, Table, type Column } from '../parts/panel.js';
import { addressOf } from '../parts/find.js';
import { StateWord } from '../parts/states.js';
import { Ago } from '../parts/time.js';
import { OnlyForPeople } from '../parts/withheld-people.js';
import { address } from '../route.js';

/** Finds people, and lists the requests to forget one. */
export function People() {
  return (
    <>
      <PageHead
        kind="People"
        title="Find a person"
        note={[
          'What they did, what each destination holds about them and why not, their consent, and forgetting them.',
        ]}
      />
      <OnlyForPeople
        instead={
          <>
            Without names, <a href={address.items}>the timeline of an item</a> shows what became of a record.
          </>
        }
      >
        <Finder />
        <Erasures />
      </OnlyForPeople>
    </>
  );
}

function Finder() {
  const [text, setText] = useState('');
  const [found, setFound] = useState<{ readonly hits: readonly HitView[]; readonly more: boolean } | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const search = async (): Promise<void> => {
    if (text.trim() === '') return;
    try {
      const { hits, more } = await post('/api/find', { json: { text: text.trim(), personal: true, limit: 100 } });
      setFound({ hits: hits.filter(({ item }) => item !== null && listsOfPeople.has(item.list)), more });
      setRefused(null);
    } catch (error) {
      setRefused(refusalOf(error, 'pigeonpost cannot be reached'));
    }
  };
  return (
    <Panel title="Search" id="search">
      <div class="inside">
        <form
          class="form"
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            search().catch(() => undefined);
          }}
        >
          <Field
            label="Name, e-mail address or attendee code"
            value={text}
            maxLength={400}
            placeholder="ada@example.com"
            onText={setText}
          />
          <button type="submit" class="main">
            Search (audited)
          </button>
        </form>
        {refused === null ? null : <Refusal text={refused} />}
        {found === null ? null : (
          <p class="dim" role="status">
            {found.hits.length === 0
              ? 'Nobody found. The beginnings of words are enough; a code or an address has to be complete.'
              : `${counted(found.hits.length, 'person', 'people')}${found.more ? '; a longer text finds others' : ''}`}
          </p>
        )}
      </div>
      {found === null || found.hits.length === 0 ? null : (
        <Table columns={hitColumns} rows={found.hits} keyOf={({ item }) => JSON.stringify(item)} />
      )}
    </Panel>
  );
}

const hitColumns: readonly Column<HitView>[] = [
  ['Person', 'name', (hit) => <a href={addressOf(hit, true)}>{hit.title}</a>],
  ['Where', '', ({ about }) => about],
];

function Erasures() {
  const asked = useAsked(useMay('erase') ? '/api/erasures' : null, { query: { limit: 50 } }, 5000);
  if (!useMay('erase')) return null;
  return (
    <AskedPanel title="Requests to forget a person" id="erasures" asked={asked} lines={2}>
      {({ items }) => (
        <Table
          columns={[
            [
              'Requested',
              'name',
              ({ id, requestedAt }) => <a href={address.erasure(id)}>{<Ago at={requestedAt} />}</a>,
            ],
            [
              'State',
              '',
              ({ state }) => (
                <StateWord of={state === 'done' ? ['good', 'every place has answered'] : ['busy', 'in progress']} />
              ),
            ],
            ['By', 'mid', ({ requestedBy }) => requestedBy ?? '–'],
            ['Number', 'wide', ({ id }) => <code>{id}</code>],
          ]}
          rows={items}
          keyOf={({ id }) => id}
          empty="Nobody was forgotten yet. Open a person and select Forget."
        />
      )}
    </AskedPanel>
  );
}
