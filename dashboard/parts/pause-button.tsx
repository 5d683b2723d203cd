import type { Action } from '../../operations/action.js';
import { act } from '../asking/act.js';
import { useMay } from '../asking/caller.js';
import { Button } from './button.js';

interface Props {
  readonly kind: Action['kind'];
  readonly name: string;
  readonly paused: boolean;
}

export function PauseButton({ kind, name, paused }: Props) {
  if (!useMay('operate')) return null;
  return paused ? (
    <Button look="main" onPress={() => act({ do: 'resume', kind, name })}>
      Resume
    </Button>
  ) : (
    <Button onPress={() => act({ do: 'pause', kind, name })}>Pause…</Button>
  );
}

/** Buttons that read or sweep a workspace or a pigeonhole now. */
export function ReadButtons({ kind, name }: Pick<Props, 'kind' | 'name'>) {
  if (!useMay('operate')) return null;
  return (
    <>
      <Button onPress={() => act({ do: 'poll-now', kind, name })}>Read now</Button>
      <Button onPress={() => act({ do: 'sweep', kind, name })}>Sweep</Button>
    </>
  );
}
