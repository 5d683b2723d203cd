import { useState } from 'preact/hooks';
import type { DestinationView, PersonStoryView } from '../../api/person-story.js';
import { consentWords } from '../../base/consent-words.js';
import { countedItems } from '../../base/item-titles.js';
import { grouped } from '../../base/words.js';
import { carryOut } from '../asking/act.js';
import { get, post, saveFile } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useOnce } from '../asking/use-once.js';
import { Button } from '../parts/controls.js';
import { ForgetDialog, type NamedPerson } from '../parts/forget.js';
import { AwaitAnswer, PageHead, Panel, Table, type Column, Written, named } from '../parts/panel.js';
import { deliveryTone, StateWord } from '../parts/states.js';
import { Ago, Clock, Sentence } from '../parts/time.js';
import { OnlyForPeople } from '../parts/withheld-people.js';
import { address } from '../route.js';
import { capitalized, type Tone } from '../words.js';

interface PersonName {
  readonly workspace: string;
  readonly id: string;
  readonly attendee: string;
}

/** A person: what they did, what each destination holds about them and why not, their consent, export and forgetting. */
export function Person(name: PersonName) {
  const { workspace, id, attendee } = name;
  const maySee = useMay('personal');
  const params = { workspace, id, attendee };
  const asked = useOnce(
    maySee ? JSON.stringify(params) : null,
    async () => await get('/api/persons/{workspace}/{id}/{attendee}', { params }),
  );
  const record = address.item('attendees', attendee, `${workspace}/${id}`);
  const story = asked.data;
  return (
    <>
      <PageHead
        kind="Person"
        title={story === undefined ? `Attendee ${attendee}` : (story.name ?? 'A person without a name')}
        note={[
          <a href={address.pigeonhole(workspace, id)}>{story?.event ?? `${workspace}/${id}`}</a>,
          `attendee ${attendee}`,
          story === undefined ? null : `consent ${consentWords(story.consent.at(-1)?.consent ?? null)}`,
          story?.deleted === true ? 'deleted in the service' : null,
        ]}
      >
        <a class="button" href={record}>
          Timeline of the record
        </a>
        {story === undefined ? null : <Actions story={story} />}
      </PageHead>
      <OnlyForPeople
        instead={
          <>
            What became of the record, without the person: <a href={record}>its timeline</a>.
          </>
        }
      >
        <AwaitAnswer asked={asked} lines={10}>
          {(found) => <Story story={found} />}
        </AwaitAnswer>
      </OnlyForPeople>
    </>
  );
}

function Actions({ story }: { readonly story: PersonStoryView }) {
  const [isForgetting, setForgetting] = useState(false);
  const mayErase = useMay('erase');
  const { workspace, attendeeId, codes, addresses, event, pigeonholeId } = story;
  const id = { attendee: `id:${attendeeId}`, workspace };
  const save = async (): Promise<void> => {
    await carryOut(
      async () => {
        const stored = await post('/api/persons/export', { json: id });
        const text = new Blob([JSON.stringify(stored, null, 2)], { type: 'application/json' });
        await saveFile(new Response(text), `person-${workspace}-${attendeeId}.json`);
      },
      () => 'everything stored about this person was saved',
    );
  };
  const ways: readonly NamedPerson[] = [
    { label: `Attendee ${attendeeId}, in ${event ?? `${workspace}/${pigeonholeId}`}`, ...id },
    ...codes.map((code) => ({ label: `Everyone with the code ${code}, in every event`, attendee: `code:${code}` })),
    ...addresses.map((each) => ({
      label: `Everyone with the address ${each}, in every event`,
      attendee: `email:${each}`,
    })),
  ];
  return (
    <>
      <Button onPress={save}>Export (audited)</Button>
      {mayErase ? (
        <>
          <Button look="grave" onPress={() => setForgetting(true)}>
            Forget…
          </Button>
          <ForgetDialog name={story.name} ways={ways} isOpen={isForgetting} onClose={() => setForgetting(false)} />
        </>
      ) : null}
    </>
  );
}

function Story({ story }: { readonly story: PersonStoryView }) {
  const { workspace, pigeonholeId, profile, destinations, consent, deeds, moreDeeds, elsewhere, importRows } = story;
  return (
    <>
      <Panel title="What each destination holds" id="destinations">
        <Table
          columns={destinationColumns}
          rows={destinations}
          keyOf={({ sink }) => sink}
          empty="No sink receives data of this event."
        />
      </Panel>
      <Panel title="Record" id="record">
        {profile === null ? (
          <p class="empty">
            {story.deleted ? 'The service has deleted the record.' : 'The retention of the record has ended.'}
          </p>
        ) : (
          <Written data={shownProfile(profile)} />
        )}
      </Panel>
      <div class="columns">
        <Panel title="Consent" id="consent">
          <ol class="inside list">
            {consent.toReversed().map((state, at) => (
              <li key={state.foundAt}>
                <StateWord
                  of={[
                    at === 0 ? (consentTones[state.consent] ?? 'quiet') : 'quiet',
                    capitalized(consentWords(state.consent)),
                  ]}
                />
                <small class="below">
                  found <Clock at={state.foundAt} />
                  {state.obtainedAt === null ? null : (
                    <>
                      , decided <Clock at={state.obtainedAt} />
                    </>
                  )}
                </small>
              </li>
            ))}
          </ol>
        </Panel>
        <Panel title="Other events" id="elsewhere">
          {elsewhere.length === 0 ? (
            <p class="empty">No other event has an attendee with the same code or e-mail address.</p>
          ) : (
            <ul class="inside list">
              {elsewhere.map((each) => (
                <li key={`${each.workspace}/${each.pigeonholeId} ${each.attendeeId}`}>
                  <a href={address.person(each.workspace, each.pigeonholeId, each.attendeeId)}>
                    {each.event ?? `${each.workspace}/${each.pigeonholeId}`}
                  </a>
                  <small class="below">attendee {each.attendeeId}, with the same code or address</small>
                </li>
              ))}
            </ul>
          )}
        </Panel>
        <Panel title="Imports" id="imports">
          {importRows.length === 0 ? (
            <p class="empty">No import has a row with the code of this person.</p>
          ) : (
            <ul class="inside list">
              {importRows.map((row) => (
                <li key={`${row.import} ${row.row}`}>
                  <a href={address.import(String(row.import))}>Import {row.import}</a>, row {grouped(row.row)}:{' '}
                  {row.outcome ?? 'waiting'}
                  {row.message === null ? null : <small class="below">{row.message}</small>}
                </li>
              ))}
            </ul>
          )}
        </Panel>
      </div>
      <Panel
        title="What they did"
        id="deeds"
        aside={moreDeeds ? 'the latest; an export has all' : grouped(deeds.length)}
      >
        {deeds.length === 0 ? (
          <p class="empty">Nothing under their name. What they did anonymously is shown to nobody.</p>
        ) : (
          <ol class="story">
            {deeds.map(({ list, key, at, changedAt, sentence, revision }) => (
              <li key={`${list} ${key}`}>
                <Clock at={at ?? changedAt} />
                <p>
                  <a class="item-name" href={address.item(list, key, `${workspace}/${pigeonholeId}`)}>
                    {sentence}
                  </a>
                  {revision > 1 ? (
                    <small>
                      {' '}
                      changed <Ago at={changedAt} />
                    </small>
                  ) : null}
                </p>
              </li>
            ))}
          </ol>
        )}
      </Panel>
    </>
  );
}

/** Fields that the page shows elsewhere. */
const shownElsewhere: ReadonlySet<string> = new Set(['id', 'consent']);

/** Returns the fields of a record that say something, those of its members by `field.member`. */
function shownProfile(profile: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = Object.entries(profile).flatMap(([field, value]) => {
    if (value === null || value === '' || shownElsewhere.has(field)) return [];
    if (typeof value !== 'object' || Array.isArray(value)) return [[field, value] as const];
    return Object.entries(value).map(([member, each]) => [`${field}.${member}`, each] as const);
  });
  return Object.fromEntries(fields);
}

const consentTones: Readonly<Record<string, Tone>> = { obtained: 'good', refused: 'bad' };

const destinationColumns: readonly Column<DestinationView>[] = [
  ['Destination', 'name', ({ sink, type }) => named(<a href={address.sink(sink)}>{sink}</a>, type)],
  [
    'Their record',
    '',
    ({ holds, record }) =>
      holds === null ? (
        <StateWord of={['quiet', 'not there']} />
      ) : (
        <>
          <StateWord of={[record.state === 'delivered' ? 'good' : 'warning', 'there']} />
          <small class="below">
            revision {holds.revision}
            {holds.at === null ? null : (
              <>
                , <Clock at={holds.at} />
              </>
            )}
          </small>
        </>
      ),
  ],
  [
    'Why',
    '',
    ({ record: { state, outcome, words, detail, reason } }) => (
      <>
        <StateWord of={[deliveryTone({ state, reason }), capitalized(words ?? outcome)]} />
        {words === null ? null : <small class="below">{outcome}</small>}
        {detail === null ? null : (
          <small class="below">
            <Sentence text={detail} />
          </small>
        )}
      </>
    ),
  ],
  [
    'What they did',
    'mid',
    ({ items }) =>
      items.length === 0 ? (
        '–'
      ) : (
        <ul class="list">
          {items.map((row) => (
            <li key={`${row.list} ${row.state} ${row.reason} ${row.identity}`}>
              {countedItems(row.items, row.list)}: {row.words ?? row.outcome}
              {row.state === 'delivered' && row.identity === false ? ', anonymously' : ''}
            </li>
          ))}
        </ul>
      ),
  ],
];
