import { sinkWake, Wakes } from './wakes.js';

const log = { warn: () => undefined };

/** Wakes of a process, and what it sent to other processes. */
function process(failure?: Error) {
  const sent: string[][] = [];
  const heard: string[] = [];
  const wakes = new Wakes(async (names) => {
    sent.push([...names]);
    if (failure !== undefined) throw failure;
  }, log);
  return { wakes, sent, heard, listen: (name: string) => wakes.listen(name, () => void heard.push(name)) };
}

describe('a wake', () => {
  it('stays in the process if the stay is here', async () => {
    const { wakes, sent, heard, listen } = process();
    const stop = listen(sinkWake('crm'));
    wakes.wake(sinkWake('crm'));
    await wakes.flush();
    expect([heard, sent]).toEqual([['sink crm'], []]);
    stop();
    wakes.wake(sinkWake('crm'));
    await wakes.flush();
    expect([heard, sent]).toEqual([['sink crm'], [['sink crm']]]);
  });

  it('is sent with all others of the moment, each once', async () => {
    const { wakes, sent } = process();
    for (const name of ['a', 'b', 'a', 'b', 'c']) wakes.wake(name);
    await wakes.flush();
    expect(sent).toEqual([['a', 'b', 'c']]);
  });

  it('of every process is also heard in this one', async () => {
    const { wakes, sent, heard, listen } = process();
    listen('readers');
    listen('readers');
    wakes.wakeAll('readers');
    await wakes.flush();
    expect([heard, sent]).toEqual([['readers', 'readers'], [['readers']]]);
  });

  it('that cannot be sent is dropped, and the next one is sent', async () => {
    const { wakes, sent } = process(new Error('connection lost'));
    wakes.wake('a');
    await wakes.flush();
    wakes.wake('b');
    await wakes.flush();
    expect(sent).toEqual([['a'], ['b']]);
  });

  it('that may have been missed wakes everything', () => {
    const { wakes, heard, listen } = process();
    listen('a');
    listen('b');
    wakes.missed();
    expect(heard).toEqual(['a', 'b']);
  });
});
