import { useState } from 'preact/hooks';
import type { AskedAt } from '../../api/routes.js';
import type { TokenView } from '../../api/tokens.js';
import { askPerson, carryOut } from '../asking/act.js';
import { post } from '../asking/ask.js';
import { serverNow } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { Button, Choice, Field } from '../parts/controls.js';
import { AskedPanel, type Column, named, PageHead, Panel, Table } from '../parts/panel.js';
import { Sections } from '../parts/sections.js';
import { StateWord } from '../parts/states.js';
import { Ago, Clock } from '../parts/time.js';
import { address } from '../route.js';

/** Shows the tokens of programs and people, creates them and revokes them. */
export function Tokens() {
  const tokens = useAsked('/api/tokens', {});
  const [made, setMade] = useState<Made | null>(null);
  return (
    <>
      <Sections current={address.tokens} />
      <PageHead
        kind="Installation"
        title="Tokens"
        note={['A token gives a program or a person access to the API. Only its hash is kept.']}
      />
      {made === null ? null : <MadeToken made={made} onDone={() => setMade(null)} />}
      <NewToken onMade={setMade} />
      <AskedPanel title="Valid tokens" id="tokens" asked={tokens} lines={3}>
        {(data) => (
          <Table
            columns={columns}
            rows={data.tokens}
            keyOf={({ name }) => name}
            empty="No token exists yet. Create one for each program, so that you can revoke it alone."
          />
        )}
      </AskedPanel>
    </>
  );
}

interface Made {
  readonly name: string;
  readonly token: string;
}

function MadeToken({ made, onDone }: { readonly made: Made; readonly onDone: () => void }) {
  const [isCopied, setIsCopied] = useState(false);
  return (
    <Panel title={`Token ${made.name} is created`} id="made">
      <div class="inside">
        <p>Copy it now: it is shown only here, and cannot be read again.</p>
        <pre class="code">{made.token}</pre>
        <div class="actions">
          <Button
            look="main"
            onPress={async () => {
              await navigator.clipboard.writeText(made.token);
              setIsCopied(true);
            }}
          >
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
          <Button onPress={onDone}>Done</Button>
        </div>
      </div>
    </Panel>
  );
}

const roleWords = [
  ['viewer', 'viewer: sees the state and items without people'],
  ['importer', 'importer: also imports registrants'],
  ['operator', 'operator: also pauses, resends and sweeps'],
  ['privacy', 'privacy: also sees, exports and forgets people'],
  ['admin', 'admin: everything, with configuration and tokens'],
] as const;

const expiries = [
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
  ['', 'never'],
] as const;

type Role = AskedAt<'post', '/api/tokens'>['json']['roles'][number];

function NewToken({ onMade }: { readonly onMade: (made: Made) => void }) {
  const overview = useAsked('/api/overview', {});
  const workspaces = [...new Set((overview.data?.syncs ?? []).map(({ workspace }) => workspace))];
  const [name, setName] = useState('');
  const [role, setRole] = useState<string>('viewer');
  const [days, setDays] = useState('90');
  const [workspace, setWorkspace] = useState('');
  const create = async (): Promise<void> => {
    const json = {
      name,
      roles: [role as Role],
      workspace: workspace === '' ? null : workspace,
      expiresInDays: days === '' ? null : Number(days),
    };
    const made = await carryOut(
      () => post('/api/tokens', { json }),
      () => `token ${name} is created`,
    );
    if (made === undefined) return;
    onMade({ name: made.name, token: made.token });
    setName('');
  };
  return (
    <Panel title="New token" id="new">
      <form
        class="form inside"
        onSubmit={(event) => {
          event.preventDefault();
          create().catch(() => undefined);
        }}
      >
        <Field label="Name" value={name} onText={setName} placeholder="such as reporting" required maxLength={63} />
        <label>
          Role
          <Choice label="Role" value={role} onChoose={setRole}>
            {roleWords}
          </Choice>
        </label>
        <label>
          Expires
          <Choice label="Expires" value={days} onChoose={setDays}>
            {expiries}
          </Choice>
        </label>
        <label>
          Sees
          <Choice label="Sees" value={workspace} onChoose={setWorkspace}>
            {[['', 'all workspaces'], ...workspaces.map((each) => [each, `only workspace ${each}`])]}
          </Choice>
        </label>
        <button type="submit" class="main">
          Create
        </button>
      </form>
    </Panel>
  );
}

async function revoke({ name }: TokenView): Promise<void> {
  const given = await askPerson({
    title: `Revoke token ${name}?`,
    body: 'The API refuses it immediately. This cannot be undone.',
    confirm: 'Revoke',
    grave: true,
  });
  if (given === null) return;
  await carryOut(
    () => post('/api/tokens/{name}/revoke', { params: { name }, json: {} }),
    () => `token ${name} is revoked`,
  );
}

const columns: readonly Column<TokenView>[] = [
  [
    'Token',
    'name',
    ({ name, createdAt, createdBy }) => named(name, ['created ', <Ago at={createdAt} />, ` by ${createdBy}`]),
  ],
  ['Roles', '', ({ roles }) => roles.join(', ')],
  ['Sees', 'mid', ({ workspace }) => (workspace === null ? 'all workspaces' : `workspace ${workspace}`)],
  [
    'Expires',
    '',
    ({ expiresAt }) => {
      if (expiresAt === null) return 'never';
      return Date.parse(expiresAt) <= serverNow() ? <StateWord of={['bad', 'expired']} /> : <Clock at={expiresAt} />;
    },
  ],
  ['Last used', 'number mid', ({ lastUsedAt }) => <Ago at={lastUsedAt} never="never" />],
  [
    '',
    'number',
    (token) => (
      <Button look="link" label={`Revoke… (${token.name})`} onPress={() => revoke(token)}>
        Revoke…
      </Button>
    ),
  ],
];
