import type { AlertsView } from '../../operations/alerts/alert-desk.js';
import type { IncidentView } from '../../api/incidents.js';
import { counted } from '../../base/words.js';
import { carryOut } from '../asking/act.js';
import { post } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { Button } from '../parts/controls.js';
import { AskedPanel, type Column, PageHead, Table } from '../parts/panel.js';
import { Sections } from '../parts/sections.js';
import { StateWord } from '../parts/states.js';
import { Ago, Clock, Sentence } from '../parts/time.js';
import { address } from '../route.js';

/** Shows who is notified about problems, about which, and what they were notified last. */
export function Alerts() {
  const alerts = useAsked('/api/alerts', {});
  const notified = useAsked('/api/incidents', { query: { limit: 100 } }, 6000);
  const mayTest = useMay('operate');
  const receivers = alerts.data?.receivers ?? [];
  return (
    <>
      <Sections current={address.alerts} />
      <PageHead
        kind="Installation"
        title="Alerts"
        note={[
          'Receivers and conditions are set under "alerts" in pigeonpost.yaml. Alerts never contain personal data.',
        ]}
      >
        {mayTest && receivers.length > 0 ? <Button onPress={test}>Send a test alert</Button> : null}
      </PageHead>
      <AskedPanel title="Receivers" id="receivers" asked={alerts} lines={2}>
        {(data) => (
          <Table
            columns={receiverColumns}
            rows={data.receivers}
            keyOf={({ receiver }) => receiver}
            empty='Nobody receives alerts: name a Slack channel, a webhook or a mailbox under "alerts.to" in pigeonpost.yaml, then apply the file.'
          />
        )}
      </AskedPanel>
      <AskedPanel title="Open alerts" id="raised" asked={alerts} lines={2}>
        {({ raised }) => (
          <Table
            columns={raisedColumns}
            rows={raised}
            keyOf={({ occasion, subject }) => `${occasion} ${subject}`}
            empty="No alert is open."
          />
        )}
      </AskedPanel>
      <AskedPanel
        title="Last announcements"
        id="announced"
        asked={notified}
        lines={4}
        aside={() => <a href={address.incidents}>All incidents</a>}
      >
        {({ items }) => (
          <Table
            columns={announcementColumns}
            rows={announcementsOf(items)}
            keyOf={({ number, receiver, kind }) => `${number} ${receiver} ${kind}`}
            empty="No receiver was notified about a problem in the last 30 days."
          />
        )}
      </AskedPanel>
      <AskedPanel title="Conditions" id="conditions" asked={alerts} lines={6}>
        {({ when }) => <Table columns={conditionColumns} rows={when} keyOf={({ occasion }) => occasion} />}
      </AskedPanel>
    </>
  );
}

async function test(): Promise<void> {
  await carryOut(
    () => post('/api/alerts/test', { json: {} }, { patienceMs: 60_000 }),
    ({ receivers }) =>
      receivers.map(({ receiver, detail }) => `${receiver}: ${detail ?? 'accepted the test alert'}`).join('; '),
  );
}

type Receiver = AlertsView['receivers'][number];

const receiverColumns: readonly Column<Receiver>[] = [
  ['Receiver', 'name', ({ receiver }) => receiver],
  [
    'State',
    '',
    ({ failure, failingSince, deliveredAt }) =>
      failure === null ? (
        <StateWord of={deliveredAt === null ? ['quiet', 'nothing sent yet'] : ['good', 'accepts alerts']} />
      ) : (
        <>
          <StateWord of={['bad', 'fails']} />
          <small class="below">
            {failure} (since <Ago at={failingSince} />)
          </small>
        </>
      ),
  ],
  ['Waiting', 'number', ({ waiting }) => (waiting === 0 ? <span class="dim">–</span> : counted(waiting, 'alert'))],
  ['Last accepted', 'number mid', ({ deliveredAt }) => <Ago at={deliveredAt} never="never" />],
];

const raisedColumns: readonly Column<AlertsView['raised'][number]>[] = [
  [
    'Alert',
    '',
    ({ title, todo }) => (
      <>
        <Sentence text={title} />
        {todo === null ? null : <small class="below">{todo}</small>}
      </>
    ),
  ],
  ['State', '', ({ isOver }) => <StateWord of={isOver ? ['quiet', 'over, reported soon'] : ['bad', 'open']} />],
  ['Since', 'number', ({ since }) => <Clock at={since} />],
];

interface Announcement {
  readonly number: number;
  readonly title: string;
  readonly receiver: string;
  readonly kind: 'raised' | 'recovered';
  readonly at: string;
}

const maxAnnouncements = 20;

/** Returns what receivers were notified last, newest first. */
function announcementsOf(incidents: readonly IncidentView[]): Announcement[] {
  return incidents
    .flatMap(({ number, title, notified }) =>
      notified.map(({ receiver, kind, at }) => ({
        number,
        title,
        kind,
        at,
        receiver: receiver ?? 'a receiver that is no longer configured',
      })),
    )
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, maxAnnouncements);
}

const announcementColumns: readonly Column<Announcement>[] = [
  ['At', '', ({ at }) => <Clock at={at} />],
  ['Receiver', 'name', ({ receiver }) => receiver],
  [
    'Announcement',
    '',
    ({ title, kind }) => (
      <>
        {kind === 'recovered' ? <b>Over: </b> : null}
        <Sentence text={title} />
      </>
    ),
  ],
];

const conditionColumns: readonly Column<AlertsView['when'][number]>[] = [
  ['Condition', 'name', ({ occasion }) => <code>{occasion}</code>],
  ['Sends an alert when', '', ({ says }) => says],
  [
    'Setting',
    '',
    ({ on, limit }) => <StateWord of={on ? ['good', limit === null ? 'on' : `on, ${limit}`] : ['quiet', 'off']} />,
  ],
];
