import { dismiss, notices } from '../asking/notices.js';
import { useStore } from '../asking/store.js';
import { capitalized } from '../words.js';

export function Notices() {
  const shown = useStore(notices);
  return (
    <div class="notices" role="log" aria-label="Results" aria-live="polite">
      {shown.map(({ id, kind, text }) => (
        <p key={id} class={kind}>
          {capitalized(text)}
          <button type="button" class="link" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </p>
      ))}
    </div>
  );
}
