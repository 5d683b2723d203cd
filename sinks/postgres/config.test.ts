import { Secret } from '../../config/secret.js';
import { postgresConfigSchema } from './config.js';
import { postgresSinkType } from './postgres.js';

const parse = (url: unknown, schema = 'engagement') => postgresConfigSchema.safeParse({ url, schema });
const messagesOf = (result: ReturnType<typeof parse>) => result.error?.issues.map(({ message }) => message) ?? [];

describe('the configuration of a postgres sink', () => {
  it('takes a URL from the environment and a schema', () => {
    expect(parse(new Secret('postgres://app:pw@db.example.com/warehouse')).success).toBe(true);
  });

  it('takes no URL that stands in the file, for it holds a password', () => {
    expect(messagesOf(parse('postgres://app:pw@db.example.com/warehouse'))).toEqual([
      expect.stringContaining('never stands in this file'),
    ]);
  });

  it('says what is wrong with a URL without repeating it', () => {
    const messages = messagesOf(parse(new Secret('postgres://app:s3cret@db.example.com')));
    expect(messages).toEqual([expect.stringContaining('must name one database')]);
    expect(messages.join()).not.toContain('s3cret');
  });

  it('says which file of the URL cannot be read, and not where it was looked for', () => {
    const messages = messagesOf(
      parse(new Secret('postgres://app:s3cret@db.example.com/d?sslrootcert=/nowhere/ca.pem')),
    );
    expect(messages).toEqual(['this URL names a file in sslrootcert that cannot be read (ENOENT)']);
  });

  it.each(['Engagement', 'pg_stuff', 'a-b', '', '1st', 'x'.repeat(64)])('takes no schema named %j', (schema) => {
    expect(parse(new Secret('postgres://u@db/d'), schema).success).toBe(false);
  });
});

describe('the destination of a postgres sink', () => {
  const destinationOf = (url: string) =>
    postgresSinkType.destination({ url: new Secret(url), schema: 'engagement' }, { baseFolder: '/' });

  it('is the same with another user and password, and another in another database', () => {
    expect(destinationOf('postgres://b:2@db/d')).toBe(destinationOf('postgres://a:1@db:5432/d'));
    expect(destinationOf('postgres://a:1@db/e')).not.toBe(destinationOf('postgres://a:1@db/d'));
  });
});
