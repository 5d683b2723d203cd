import { startLrsDouble } from '../../../../sandbox/lrs/start-lrs-double.js';
import { environmentOf } from '../../../../sinks/sink-environment.test-kit.js';
import { configurationFor, items } from '../../../../sinks/xapi/subjects.test-kit.js';
import { createXapiSink } from '../../../../sinks/xapi/xapi.js';
import { changeOf, emailOf, type HeldDestination, numberIn, type Version } from './held-destination.js';

/** Statements of an LRS. It holds each id once, and a statement of another client has another id. */
export async function startXapi(): Promise<HeldDestination> {
  const lrs = await startLrsDouble({ accounts: [{ username: 'lrs-key', password: 'lrs-s3cret' }] });
  const sink = createXapiSink(
    configurationFor(lrs.endpoint),
    environmentOf('lms', { requestTimeoutMs: 60_000, onForget: 'delete' }),
  );
  const { store } = lrs;
  const textOf = (number: number, version: Version): string => `${version} question of ${emailOf(number)}`;
  const find = (number: number, version: Version) =>
    store.all.find((each) => (each.result as { response?: string } | undefined)?.response === textOf(number, version));
  return {
    sink,
    findsCopies: false,
    isOneObjectEachRevision: true,
    item: (number, version) =>
      changeOf(
        'qna-questions',
        number,
        version,
        { ...items['qna-questions'], id: number, content: textOf(number, version) },
        { attendee: items.attendees },
      ),
    contents: () =>
      store.all.map((statement) => {
        const { id: voided = '' } = statement.object as { readonly id?: string };
        const about = store.find(voided) ?? statement;
        return [statement.id, numberIn(JSON.stringify(about)), JSON.stringify(statement)] as const;
      }),
    remove: (number) => store.remove(find(number, 'first')!.id),
    edit: (number) => store.edit(find(number, 'first')!.id, { result: { response: 'edited' } }),
    backup: (number) => () => {
      store.remove(store.voiderOf(find(number, 'first')!.id)!);
      const later = find(number, 'last');
      if (later !== undefined) store.remove(later.id);
    },
    async close() {
      await sink.close();
      await lrs.close();
    },
  };
}
