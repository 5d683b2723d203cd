import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Action } from '../../operations/action.js';
import { act } from '../asking/act.js';
import { useMay } from '../asking/connection.js';

interface ButtonProps {
  readonly children: ComponentChildren;
  /** Until the promise settles, the button is disabled. */
  readonly onPress: () => Promise<unknown> | void;
  readonly look?: 'plain' | 'main' | 'grave' | 'link';
  readonly disabled?: boolean;
  readonly label?: string;
  readonly pressed?: boolean;
}

export function Button({ children, onPress, look = 'plain', disabled = false, label, pressed }: ButtonProps) {
  const [busy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    setBusy(true);
    try {
      await onPress();
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class={look}
      disabled={disabled || busy}
      aria-busy={busy}
      aria-label={label}
      aria-pressed={pressed}
      onClick={() => {
        press().catch(() => undefined);
      }}
    >
      {children}
    </button>
  );
}

interface PauseProps {
  readonly kind: Action['kind'];
  readonly name: string;
  readonly paused: boolean;
}

export function PauseButton({ kind, name, paused }: PauseProps) {
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
export function ReadButtons({ kind, name }: Pick<PauseProps, 'kind' | 'name'>) {
  if (!useMay('operate')) return null;
  return (
    <>
      <Button onPress={() => act({ do: 'poll-now', kind, name })}>Read now</Button>
      <Button onPress={() => act({ do: 'sweep', kind, name })}>Sweep</Button>
    </>
  );
}
