import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

interface Props {
  readonly children: ComponentChildren;
  /** Until the promise settles, the button is disabled. */
  readonly onPress: () => Promise<unknown> | void;
  readonly look?: 'plain' | 'main' | 'grave' | 'link';
  readonly disabled?: boolean;
  readonly label?: string;
  readonly pressed?: boolean;
}

export function Button({ children, onPress, look = 'plain', disabled = false, label, pressed }: Props) {
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
