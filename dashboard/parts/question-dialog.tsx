import { useEffect, useRef, useState } from 'preact/hooks';
import { openQuestion } from '../asking/questions.js';
import { useStore } from '../asking/store.js';

/** Confirms an action. Escape and a click outside the dialog cancel. */
export function QuestionDialog() {
  const question = useStore(openQuestion);
  const dialog = useRef<HTMLDialogElement>(null);
  const [written, setWritten] = useState('');
  useEffect(() => {
    setWritten('');
    if (question === null) dialog.current?.close();
    else dialog.current?.showModal();
  }, [question]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question-title"
      onClose={() => openQuestion.value?.answer(null)}
      onClick={(event) => {
        if (event.target === dialog.current) openQuestion.value?.answer(null);
      }}
    >
      {question === null ? null : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            question.answer(written.trim());
          }}
        >
          <h2 id="question-title">{question.title}</h2>
          <div class="body">{question.body}</div>
          {question.field === undefined ? null : (
            <label>
              {question.field.label}
              <input
                value={written}
                maxLength={500}
                placeholder={question.field.hint}
                onInput={(event) => setWritten(event.currentTarget.value)}
              />
            </label>
          )}
          <div class="actions">
            <button type="button" onClick={() => question.answer(null)}>
              Cancel
            </button>
            <button type="submit" class={question.grave === true ? 'grave' : 'main'}>
              {question.confirm}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}
