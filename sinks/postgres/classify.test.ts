import { classifyFailure, DestinationChanged } from './classify.js';

const failureOf = (error: unknown) => classifyFailure(error, 'PostgreSQL at db:5432', 'engagement');
const fromServer = (code: string, more: object = {}) =>
  failureOf({ code, severity: 'ERROR', message: 'value "ada@example.com" is bad', ...more });

describe('an error of PostgreSQL', () => {
  it.each(['08006', '40001', '40P01', '53100', '53300', '55P03', '57014', '57P01', '25006', 'XX000', '42601'])(
    'with code %s is retried',
    (code) => {
      expect(fromServer(code)).toMatchObject({ about: 'destination', outcome: { kind: 'retry' }, looksAgain: false });
    },
  );

  it.each(['42P01', '42703', '3F000', '42P10', '42804'])(
    'with code %s is retried after the tables were inspected again',
    (code) => {
      expect(fromServer(code)).toMatchObject({ about: 'destination', outcome: { kind: 'retry' }, looksAgain: true });
    },
  );

  it.each([
    ['28P01', 'credential'],
    ['28000', 'credential'],
    ['3D000', 'destination'],
    ['42501', 'destination'],
  ])('with code %s pauses the sink because of its %s', (code, cause) => {
    expect(fromServer(code)).toMatchObject({ about: 'destination', outcome: { kind: 'pause', cause } });
  });

  it.each(['22001', '22P05', '23514', '54000', 'P0001', '27000', '38000', '44000'])(
    'with code %s is about a row',
    (code) => {
      expect(fromServer(code)).toMatchObject({ about: 'row', cause: `postgres:${code}` });
    },
  );

  it('is reported without its message, which quotes values', () => {
    const failures = ['22P02', '23505', '42501', '40001', 'XX000'].map((code) => fromServer(code));
    expect(JSON.stringify(failures)).not.toContain('ada@example.com');
    expect(fromServer('23514', { constraint: 'own_rule' })).toHaveProperty(
      'detail',
      expect.stringContaining('own_rule'),
    );
    expect(JSON.stringify(fromServer('23514', { constraint: 'no "ada@example.com"' }))).not.toContain('ada');
  });
});

describe('a refusal of a connection pooler', () => {
  it.each([
    ['transaction blocks not allowed in statement pooling mode', 'pause', 'set pool_mode = session or transaction'],
    ['unsupported startup parameter: options', 'pause', 'refuses the parameter "options"'],
    ['unsupported startup parameter in options: search_path', 'pause', 'refuses the parameter "search_path"'],
    ['query_wait_timeout', 'retry', 'refused the connection (SQLSTATE 08P01): query_wait_timeout'],
    ['pgbouncer cannot connect to server', 'retry', 'pgbouncer cannot connect to server'],
  ])('"%s" is a reason to %s with what to do', (message, kind, words) => {
    expect(failureOf({ code: '08P01', severity: 'FATAL', message })).toMatchObject({
      about: 'destination',
      outcome: { kind, detail: expect.stringContaining(words) },
    });
  });
});

describe('a failure without an answer', () => {
  it.each([
    [{ code: 'ECONNREFUSED' }, 'refuses the connection'],
    [{ code: '', errors: [{ code: 'ENOTFOUND' }] }, 'was not found by name'],
    [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'network.ca'],
    [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'sslrootcert'],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'sslmode=no-verify'],
    [new Error('The server does not support SSL connections'), 'sslmode=disable'],
    [new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string'), 'requires a password'],
    [new Error('timeout expired'), 'did not answer in time'],
    [new Error('Connection terminated unexpectedly'), 'broke'],
    ['anything', 'broke'],
  ])('%j is retried and explained', (error, words) => {
    const outcome = { kind: 'retry', detail: expect.stringContaining(words) };
    expect(failureOf(error)).toMatchObject({ about: 'destination', outcome });
  });

  it('about a changed schema pauses the sink', () => {
    expect(failureOf(new DestinationChanged('found another ledger'))).toEqual({
      about: 'destination',
      outcome: { kind: 'pause', cause: 'destination', detail: 'found another ledger' },
      looksAgain: true,
    });
  });
});
