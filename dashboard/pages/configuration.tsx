import { useState } from 'preact/hooks';
import type { ConfigurationPlan } from '../../operations/configuration-plan.js';
import { carryOut, askPerson } from '../asking/act.js';
import { post, refusalOf } from '../asking/ask.js';
import { useMay } from '../asking/page-state.js';
import { useAsked } from '../asking/use-asked.js';
import { ConfigurationHistory } from '../parts/configuration-history.js';
import { Button } from '../parts/controls.js';
import { Drafts } from '../parts/drafts.js';
import { PageHead } from '../parts/panel.js';
import { Plan } from '../parts/plan.js';
import { Sections } from '../parts/sections.js';
import { sentByPlan, withheldByPlan } from '../../sinks/reason-words.js';
import { address } from '../route.js';
import { capitalized } from '../words.js';

/**
 * Compares the configuration file with the running configuration and applies it, and shows earlier configurations. The file
 * is edited on the machine where pigeonpost runs.
 */
export function Configuration() {
  const overview = useAsked('/api/overview', {}, 5000);
  const [plan, setPlan] = useState<ConfigurationPlan | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const mayOperate = useMay('operate');
  const mayApply = useMay('administer');
  const compare = async (): Promise<void> => {
    try {
      setPlan(await post('/api/configuration/plan', { json: {} }, { patienceMs: 120_000 }));
      setRefused(null);
    } catch (error) {
      setPlan(null);
      setRefused(refusalOf(error, 'the comparison failed'));
    }
  };
  const apply = async (): Promise<void> => {
    const sends = plan === null ? null : sentByPlan(plan.deliveries);
    const given = await askPerson({
      title: 'Apply the file?',
      body: [
        'The file becomes the running configuration, without a restart.',
        ...(sends === null ? [] : [`It sends ${sends} to sinks.`]),
        ...withheldByPlan(plan?.withholding ?? []),
      ].join(' '),
      confirm: 'Apply',
    });
    if (given === null) return;
    const applied = await carryOut(
      () => post('/api/configuration/apply', { json: {} }, { patienceMs: 120_000 }),
      ({ changed, number }) =>
        changed ? `configuration ${number} is running` : 'nothing to apply: the file is the running configuration',
    );
    if (applied !== undefined) setPlan(null);
  };
  return (
    <>
      <Sections current={address.configuration} />
      <PageHead
        kind="Installation"
        title={
          overview.data === undefined ? 'Configuration' : `Configuration ${overview.data.configuration} is running`
        }
        note={[
          'Edit pigeonpost.yaml on the machine where pigeonpost runs, compare it here with the running configuration, then apply it.',
        ]}
      >
        {mayOperate ? <Button onPress={compare}>Compare with the file</Button> : null}
        {mayApply && plan !== null ? (
          <Button look="main" onPress={apply}>
            Apply the file…
          </Button>
        ) : null}
      </PageHead>
      <div aria-live="polite">
        {refused === null ? null : <pre class="code refused">{capitalized(refused)}</pre>}
        {plan === null ? null : <Plan plan={plan} />}
      </div>
      <Drafts />
      {mayOperate ? <ConfigurationHistory /> : null}
    </>
  );
}
