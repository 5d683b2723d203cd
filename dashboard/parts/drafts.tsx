import { useState } from 'preact/hooks';
import type { ConfigurationPlan } from '../../operations/configuration-plan.js';
import type { DraftView } from '../../operations/drafts/draft-views.js';
import { sentByPlan, withheldByPlan } from '../../sinks/reason-words.js';
import { askPerson, carryOut, tell } from '../asking/act.js';
import { post, refusalOf } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { address } from '../route.js';
import { Button } from './controls.js';
import { Panel, Refusal } from './panel.js';
import { Plan } from './plan.js';
import { Ago } from './time.js';

const patience = { patienceMs: 120_000 };

/** The drafts that wait for an administrator, and the way to connect a sink. */
export function Drafts() {
  const mayOperate = useMay('operate');
  const { data } = useAsked(mayOperate ? '/api/configuration/drafts' : null, {}, 10_000);
  const mayConnect = useMay('administer');
  if (data === undefined) return null;
  return (
    <>
      {mayConnect ? (
        <p class="padded">
          <a class="button" href={address.connect()}>
            Connect a sink
          </a>
        </p>
      ) : null}
      {data.drafts.map((draft) => (
        <DraftPanel key={draft.sink} draft={draft} file={data} />
      ))}
    </>
  );
}

interface DraftFile {
  readonly file: string;
  readonly writable: boolean;
}

interface DraftProps {
  readonly draft: DraftView;
  readonly file: DraftFile;
  /** Whether the page shows the mapping, so that it needs no link to it. */
  readonly isOpen?: boolean;
  /** Called after it was applied or discarded. */
  readonly onGone?: () => void;
}

/** Plans a draft, asks for confirmation, writes it into the file, and applies the file. @returns true if it is applied */
export async function applyDraft(
  { sink, kind, version }: DraftView,
  { file }: Pick<DraftFile, 'file'>,
): Promise<boolean> {
  let plan: ConfigurationPlan;
  try {
    plan = await post('/api/configuration/plan', { json: { draft: sink } }, patience);
  } catch (error) {
    tell('failed', refusalOf(error, 'the comparison failed'));
    return false;
  }
  const sends = sentByPlan(plan.deliveries);
  const given = await askPerson({
    title: kind === 'mapping' ? `Change the mapping of ${sink}?` : `Connect ${sink}?`,
    body: [
      `pigeonpost writes the draft into ${file}, with its comments kept, and applies the file.`,
      ...(sends === null ? [] : [`It sends ${sends} to sinks.`]),
      ...withheldByPlan(plan.withholding),
    ].join(' '),
    confirm: 'Apply',
  });
  if (given === null) return false;
  const applied = await carryOut(
    () => post('/api/configuration/drafts/{sink}/apply', { params: { sink }, json: { version } }, patience),
    ({ number }) => `configuration ${number} is running`,
  );
  return applied !== undefined;
}

/** A draft: what it changes, and the buttons that apply and discard it. */
export function DraftPanel({ draft, file, isOpen = false, onGone }: DraftProps) {
  const { sink, kind, version, savedBy, savedAt, conflict } = draft;
  const [plan, setPlan] = useState<ConfigurationPlan | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const mayApply = useMay('administer');
  const compare = async (): Promise<void> => {
    try {
      setPlan(await post('/api/configuration/plan', { json: { draft: sink } }, patience));
      setRefused(null);
    } catch (error) {
      setRefused(refusalOf(error, 'the comparison failed'));
    }
  };
  const apply = async (): Promise<void> => {
    if (await applyDraft(draft, file)) onGone?.();
  };
  const discard = async (): Promise<void> => {
    const done = await carryOut(
      () => post('/api/configuration/drafts/{sink}/discard', { params: { sink }, json: { version } }),
      () => `the draft of ${sink} is discarded`,
    );
    if (done !== undefined) onGone?.();
  };
  return (
    <Panel
      title={kind === 'mapping' ? `Draft: another mapping of ${sink}` : `Draft: the new sink ${sink}`}
      id={`draft-${sink}`}
      aside={
        <>
          saved by {savedBy}, <Ago at={savedAt} />
        </>
      }
    >
      <div class="inside">
        {conflict === null ? null : <Refusal text={conflict} />}
        {refused === null ? null : <Refusal text={refused} />}
        {file.writable || conflict !== null ? null : <CopyLines draft={draft} file={file.file} />}
        <div class="actions">
          {kind === 'mapping' && !isOpen ? (
            <a class="button" href={address.mapping(sink)}>
              Open
            </a>
          ) : null}
          <Button onPress={compare} disabled={conflict !== null}>
            Show what it changes
          </Button>
          {mayApply && file.writable ? (
            <Button look="main" onPress={apply} disabled={conflict !== null}>
              Apply…
            </Button>
          ) : null}
          <Button look="link" onPress={discard}>
            Discard
          </Button>
        </div>
      </div>
      {plan === null ? null : <Plan plan={plan} />}
    </Panel>
  );
}

/** The lines of a draft, for a file that pigeonpost cannot write. */
function CopyLines({ draft: { sink, kind, body, sync }, file }: { readonly draft: DraftView; readonly file: string }) {
  const lines = kind === 'mapping' ? body : `${sink}:\n${body.replaceAll(/^(?=.)/gm, '  ')}`;
  return (
    <>
      <p>
        pigeonpost cannot write <code>{file}</code>.{' '}
        {kind === 'mapping'
          ? `Replace the mapping of sink ${sink} there with these lines`
          : `Add these lines to "sinks" there, and ${sink} to the sinks of sync ${sync}`}
        , then run <code>pigeonpost config apply</code>.
      </p>
      <pre class="code" tabIndex={0}>
        {lines}
      </pre>
      <p>
        <Button onPress={() => navigator.clipboard.writeText(lines)}>Copy the lines</Button>
      </p>
    </>
  );
}
