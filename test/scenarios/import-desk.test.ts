import { kinds } from '../kit/scenario-kinds.js';
import { pause, resume } from '../../ledger/pauses.js';
import { bytesOf, countsIn, deskIn, problemsIn, requestOf, textIn } from '../imports/desk.js';
import { posts, registered } from '../imports/importing.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

const newest = { workspace: null, before: null, limit: 10 };

/** Adds one attendee, which makes the profile fields known. */
async function withSomebody(set: Stage): Promise<void> {
  await set.put('attendees', { id: 1, registrantId: 1, attendeeCode: 'OLD', Name: 'Ada', Email: 'ada@example.com' });
}

describe.each(kinds)('a file of registrants on %s', (kind) => {
  it('is checked without writing or creating anything', async () => {
    const set = await stages.open(kind);
    await withSomebody(set);
    const desk = deskIn(await set.scene());
    const lines = ['Ticket;Full name;E-mail;Seat', '007;Bo;bo@example.com;4', ';Cy;;', '007;Di;;'];
    const guess = await desk.check(requestOf(), bytesOf(...lines));
    expect(guess.codeColumn).toMatchObject({ basis: 'guessed', candidates: [{ column: 'Ticket' }] });
    expect(guess.problems[0]).toMatchObject({ row: 1, column: null, code: 'code-column' });
    const check = await desk.check(requestOf({ map: ['Ticket=attendeeCode'] }), bytesOf(...lines));
    expect(check.codeColumn).toMatchObject({ basis: 'mapped', doubt: null });
    expect(check).toMatchObject({
      target: { workspace: 'acme', pigeonholeId: 101, status: 'live', asOf: null },
      file: { format: 'csv', delimiter: ';' },
      rows: 3,
      counts: { send: 1, invalid: 2, existing: 0 },
      estimate: { requests: 1 },
    });
    expect(check.columns.map(({ property, guessed, known, sample }) => [property, guessed, known, sample])).toEqual([
      ['attendeeCode', false, true, '007'],
      ['Name', true, true, 'Bo'],
      ['Email', true, true, 'bo@example.com'],
      ['Seat', false, false, '4'],
    ]);
    expect(check.problems.map(({ row, column, code }) => [row, column, code])).toEqual([
      [3, 'Ticket', 'missing-code'],
      [4, 'Ticket', 'duplicate-code'],
    ]);
    expect(check.problemGroups).toMatchObject([
      { column: 'Ticket', code: 'missing-code', rows: 1, firstRows: [3], worksWithoutColumn: false },
      { column: 'Ticket', code: 'duplicate-code', rows: 1, firstRows: [4] },
    ]);
    expect(await desk.list(newest)).toEqual([]);
    expect(await posts(set)).toBe(0);
  });

  it('is imported, paused and resumed even if Temporal cannot be reached, because the ledger holds the state', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const desk = deskIn(scene, async () => await Promise.reject(new Error('no connection')));
    const { id, state } = await desk.start(requestOf(), bytesOf('attendeeCode,Name', 'A1,Ada'));
    expect(state).toBe('running');
    expect(await desk.act(id, { do: 'pause' })).toMatchObject({
      state: 'paused',
      reason: 'by an operator: no reason given',
    });
    expect((await desk.act(id, { do: 'resume' })).state).toBe('running');
    expect(scene.logText().match(/could not wake/g)).toHaveLength(3);
  });

  it.each([
    { pausedBy: 'person', cause: 'asked', says: 'run "pigeonpost resume workspace:acme"' },
    { pausedBy: 'cause', cause: 'credential', says: 'the service refuses the API key' },
  ] as const)('is not reported as resumed while its workspace is paused ($cause)', async ({ says, ...given }) => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const desk = deskIn(scene, async () => undefined);
    const { id } = await desk.start(requestOf(), bytesOf('attendeeCode,Name', 'A1,Ada'));
    await desk.act(id, { do: 'pause' });
    const detail = 'the service refuses the API key';
    await pause(scene.ledger, { scope: 'workspace', name: 'acme', detail, fingerprint: null, ...given });
    await expect(desk.act(id, { do: 'resume' })).rejects.toMatchObject({
      kind: 'stopped',
      message: expect.stringMatching(new RegExp(`stays paused.*${says}`)),
    });
    await resume(scene.ledger, 'workspace', 'acme', given.pausedBy);
    expect((await desk.find(id))?.state).toBe('running'); // its own pause is lifted
  });

  it('is imported and reported row by row, and sends nothing when it is imported again', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const lines = ['attendeeCode,Name', 'A1,Ada', 'A2,Bo', ',Cy', `A4,${'n'.repeat(256)}`];
    const first = await desk.start(requestOf({ by: 'ada' }), bytesOf(...lines));
    expect([first.state, first.requestedBy, countsIn(first)]).toEqual(['done', 'ada', { created: 2, invalid: 2 }]);
    expect((await registered(set)).map(({ attendeeCode }) => attendeeCode)).toEqual(['A1', 'A2']);
    expect((await problemsIn(desk, first.id)).map(({ row, column, code }) => [row, column, code])).toEqual([
      [4, 'attendeeCode', 'missing-code'],
      [5, 'Name', 'too-long'],
    ]);
    await posts(set);
    const again = await desk.start(requestOf(), bytesOf(...lines));
    expect([await posts(set), countsIn(again)]).toEqual([0, { existing: 2, invalid: 2 }]);
    expect(
      (await desk.check(requestOf(), bytesOf('attendeeCode,Name', 'A1,Ada', 'A2,Bob', 'A3,Cy'))).counts,
    ).toMatchObject({
      existing: 1,
      conflict: 1,
      send: 1,
    });
  });

  it('has a report that can be corrected and imported as a file', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const map = ['Ticket=attendeeCode', 'Notes='];
    const lines = ['Ticket,Name,Notes', '007,=Ada,x', ',Bo,'];
    const { id } = await desk.start(requestOf({ map }), bytesOf(...lines));
    const report = await textIn(desk.reportCsv(id));
    expect(report).toContain('"2","created","","","');
    expect(report).toContain('"3","invalid","attendeeCode","');
    const corrected = report.split('\r\n').map((line) => line.replace('"","Bo"', '"008","Bo"'));
    const second = await desk.start(requestOf(), bytesOf(...corrected));
    expect(countsIn(second)).toEqual({ existing: 1, created: 1 });
    expect(await registered(set)).toEqual([
      { attendeeCode: '007', Name: '=Ada' },
      { attendeeCode: '008', Name: 'Bo' },
    ]);
  });

  it.each([
    [
      'several columns that may hold the codes',
      ['Ticket,Code,Name', 'VIP,A1,Ada', 'Press,A2,Bo'],
      '"Ticket" (2 different values in 2 rows, none with a digit), "Code" (2 different values in 2 rows); name the right one, as in --map',
    ],
    [
      'a column that is a guess',
      ['Badge,Name', 'VIP,Ada', 'Press,Bo'],
      'is a guess: "Badge" (2 different values in 2 rows, none with a digit)',
    ],
    [
      'a named column whose values are no codes',
      ['attendeeCode,Name', ...'VIP VIP Press Press Press Press'.split(' ').map((kind, n) => `${kind},N${n}`)],
      'do not look like codes: "attendeeCode" (2 different values in 6 rows, none with a digit)',
    ],
  ])('is not imported with %s, until the request names the column', async (_name, lines, sentence) => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    await expect(desk.start(requestOf(), bytesOf(...lines))).rejects.toMatchObject({
      kind: 'wrong',
      message: expect.stringContaining(sentence),
    });
    expect([await desk.list(newest), await registered(set)]).toEqual([[], []]);
    const column = lines[0]!.split(',').at(-2)!;
    const { counts } = await desk.start(requestOf({ map: [`${column}=attendeeCode`] }), bytesOf(...lines));
    expect(counts['created']).toBe(2);
  });

  it('knows the fields that attendees have, and not those that an import has sent', async () => {
    const set = await stages.open(kind);
    await withSomebody(set);
    const desk = deskIn(await set.scene());
    await desk.start(requestOf(), bytesOf('attendeeCode,Name,Emial', 'A1,Ada,a@example.com'));
    const { columns } = await desk.check(requestOf(), bytesOf('attendeeCode,Email,Emial', 'A2,b@example.com,'));
    expect(columns.map(({ property, known }) => [property, known])).toEqual([
      ['attendeeCode', true],
      ['Email', true],
      ['Emial', false],
    ]);
  });

  it('joins the parts of a name, also with a saved mapping', async () => {
    const set = await stages.open(kind);
    await withSomebody(set);
    const desk = deskIn(await set.scene());
    const lines = ['First name,Last name,attendeeCode', 'Ann,Ray,A1'];
    const plan = await desk.check(requestOf(), bytesOf(...lines));
    expect(plan.names).toEqual({ missing: true, parts: ['First name', 'Last name'] });
    const map = ['First name+Last name=Name'];
    await desk.start(requestOf({ map, saveMapping: 'shop' }), bytesOf(...lines));
    await desk.start(requestOf({ map: ['shop'] }), bytesOf('attendeeCode,Last name,First name', 'A2,Lee,Bo'));
    expect(await registered(set)).toEqual([
      { attendeeCode: 'A1', Name: 'Ann Ray' },
      { attendeeCode: 'A2', Name: 'Bo Lee' },
    ]);
  });

  it('has a report whose broken rows are refused again until they are corrected', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const lines = ['Name,Company,Notes,attendeeCode', 'Ada,A,,C-1', 'King, Martin,Acme,,C-2', 'Short,B,', 'Cy,C,,C-4'];
    const map = ['Notes='];
    const first = await desk.start(requestOf({ map }), bytesOf(...lines));
    expect(countsIn(first)).toEqual({ created: 2, invalid: 2 });
    let report = await textIn(desk.reportCsv(first.id));
    expect(report).toContain('"King"');
    expect(report).toContain('"C-2"');
    const generateCodes = true; // the row that lacks its code must not get one
    for (let again = 0; again < 2; again += 1) {
      const { id, counts } = await desk.start(requestOf({ generateCodes }), bytesOf(...report.split('\r\n')));
      expect(countsIn({ counts })).toEqual({ existing: 2, invalid: 2 });
      report = await textIn(desk.reportCsv(id));
      expect(report.match(/Delete this cell when the row is correct/g)).toHaveLength(1);
    }
    const fixed = report
      .split('\r\n')
      .map((line) => line.replace('"Short","B","Delete this cell when the row is correct"', '"Short","B"'))
      .map((line) => line.replace('"","Short"', '"C-3","Short"'));
    expect(countsIn(await desk.start(requestOf(), bytesOf(...fixed)))).toEqual({ existing: 2, created: 1, invalid: 1 });
    expect((await registered(set)).map(({ Name }) => Name)).toEqual(['Ada', 'Short', 'Cy']);
  });

  it('is not imported if it differs from the file that was checked', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const { file } = await desk.check(requestOf(), bytesOf('attendeeCode,Name', 'A1,Ada'));
    const content = file.contentHash;
    await expect(desk.start(requestOf({ content }), bytesOf('attendeeCode,Name', 'A1,Bo'))).rejects.toThrow(
      'the file has changed since it was checked',
    );
    expect([await desk.list(newest), await registered(set)]).toEqual([[], []]);
    const begun = await desk.start(requestOf({ content }), bytesOf('attendeeCode,Name', 'A1,Ada'));
    expect(countsIn(begun)).toEqual({ created: 1 });
  });

  it('leaves nothing behind if its upload breaks off', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const torn = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield* bytesOf('attendeeCode,Name', ...Array.from({ length: 1500 }, (_, n) => `A${n},Ada`));
      throw new Error('the connection broke');
    };
    await expect(desk.start(requestOf(), torn())).rejects.toThrow('the connection broke');
    expect(await desk.list(newest)).toEqual([]);
    expect(countsIn(await desk.start(requestOf(), bytesOf('attendeeCode,Name', 'A1,Ada')))).toEqual({ created: 1 });
  });

  it('creates nobody if it is cancelled while it is being read', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const name = 'n'.repeat(100); // the file is longer than what is read of it before the import is listed
    const lines = ['attendeeCode,Name', ...Array.from({ length: 2000 }, (_, n) => `A${n},${name}`)];
    let cancelled: string | undefined;
    const cancelling = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      for (const line of lines) {
        const [listed] = cancelled === undefined ? await desk.list(newest) : [];
        if (listed !== undefined) cancelled = (await desk.act(listed.id, { do: 'cancel' })).id;
        yield Buffer.from(`${line}\n`);
      }
    };
    const end = await desk.start(requestOf(), cancelling());
    expect([end.id, end.state, countsIn(end)]).toEqual([cancelled, 'cancelled', { cancelled: 2000 }]);
    expect(await registered(set)).toEqual([]);
    await expect(desk.act(end.id, { do: 'cancel' })).rejects.toThrow('has ended');
  });

  it('can be tested with one row before the rest is imported', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const lines = ['attendeeCode,Name', 'A1,Ada', 'A2,Bo', 'A3,Cy'];
    expect(await desk.check(requestOf({ canary: 1 }), bytesOf(...lines))).toMatchObject({ estimate: { requests: 1 } });
    const one = await desk.start(requestOf({ canary: 1 }), bytesOf(...lines));
    expect([one.state, countsIn(one)]).toEqual(['done', { created: 1, cancelled: 2 }]);
    expect(await registered(set)).toEqual([{ attendeeCode: 'A1', Name: 'Ada' }]);
    const rest = await desk.start(requestOf(), bytesOf(...lines));
    expect(countsIn(rest)).toEqual({ existing: 1, created: 2 });

    // The list shows each import with its own counts, also when it starts after a given import.
    const [first, second] = [await desk.find(rest.id), await desk.find(one.id)];
    expect(await desk.list(newest)).toEqual([first, second]);
    expect(await desk.list({ ...newest, limit: 1 })).toEqual([first]);
    expect(await desk.list({ ...newest, before: Number(rest.id) })).toEqual([second]);
    expect(await desk.list({ ...newest, workspace: 'other' })).toEqual([]);
  });

  it('gets the same generated codes in every check and in the import', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const request = requestOf({ generateCodes: true });
    const lines = ['Name,Email', 'Ada,a@example.com', 'Bo,b@example.com'];
    expect(await desk.check(request, bytesOf(...lines))).toMatchObject({ generatedCodes: 2, counts: { send: 2 } });
    const codes = await textIn(desk.generatedCodes(request, bytesOf(...lines)));
    await desk.start(request, bytesOf(...lines));
    for (const { attendeeCode, Name } of await registered(set)) expect(codes).toContain(`"${attendeeCode}","${Name}"`);
    expect(countsIn(await desk.start(request, bytesOf(...lines)))).toEqual({ existing: 2 });
    await expect(desk.check(requestOf(), bytesOf(...lines))).rejects.toThrow('attendee code');
  });

  it('is read with a saved mapping even if some of its columns are missing', async () => {
    const set = await stages.open(kind);
    const desk = deskIn(await set.scene());
    const map = ['Ref=attendeeCode', 'Who=Name', 'Seat='];
    await desk.start(requestOf({ map, saveMapping: 'events' }), bytesOf('Ref,Who,Seat', 'A1,Ada,4'));
    expect(await desk.mappings('acme')).toMatchObject([
      { name: 'events', columns: { Ref: 'attendeeCode', Who: 'Name', Seat: null } },
    ]);
    await desk.start(requestOf({ map: ['events'] }), bytesOf('Ref,Who', 'A2,Bo'));
    expect(await registered(set)).toEqual([
      { attendeeCode: 'A1', Name: 'Ada' },
      { attendeeCode: 'A2', Name: 'Bo' },
    ]);
    await expect(desk.check(requestOf({ map: ['none'] }), bytesOf('Ref', 'A'))).rejects.toThrow(
      'saved mappings: events',
    );
    await expect(desk.check(requestOf({ map: ['Rfe=attendeeCode'] }), bytesOf('Ref', 'A'))).rejects.toThrow('Rfe');
  });

  it('is refused with one sentence if the import cannot succeed', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const desk = deskIn(scene);
    const start = () => desk.start(requestOf(), bytesOf('attendeeCode,Name', 'A1,Ada'));
    await expect(desk.target('999')).rejects.toMatchObject({ kind: 'unknown' });
    await expect(desk.target('elsewhere/101')).rejects.toMatchObject({ kind: 'unknown' });
    await set.patch('pigeonholes', 101, { status: 'ended' });
    await expect(start()).rejects.toMatchObject({
      kind: 'wrong',
      message: expect.stringMatching(/ended: .*"More options"/),
    });
    await set.patch('pigeonholes', 101, { registrants: false });
    await expect(start()).rejects.toMatchObject({ kind: 'stopped', message: expect.stringContaining('dashboard') });
    await pause(scene.ledger, {
      scope: 'workspace',
      name: 'acme',
      pausedBy: 'person',
      cause: 'asked',
      detail: '',
      fingerprint: null,
    });
    await expect(start()).rejects.toMatchObject({ kind: 'stopped', message: expect.stringContaining('resume') });
    expect(await desk.list(newest)).toEqual([]);
  });

  it('is accepted while the service does not answer if the pigeonhole is known', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    await set.fault({ kind: 'error', code: 5000, path: '/v2/pigeonholes/101' });
    await expect(deskIn(scene).target('101')).rejects.toMatchObject({ kind: 'unreachable' });
    await scene.settle();
    expect(await deskIn(scene).target('101')).toMatchObject({ status: 'live', asOf: expect.any(String) });
  });

  it('leaves no name, code or address in the log', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const desk = deskIn(scene);
    await desk.start(requestOf({ name: 'ada.csv' }), bytesOf('attendeeCode,Name', 'SECRET1,Lovelace', 'SECRET1,Twice'));
    await expect(desk.start(requestOf(), bytesOf('SECRET2,Lovelace', 'SECRET3,Hopper'))).rejects.not.toThrow(
      /SECRET|Love/,
    );
    expect(scene.logText()).not.toMatch(/SECRET|Lovelace|ada\.csv/);
  });
});
