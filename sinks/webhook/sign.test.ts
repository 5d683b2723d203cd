import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Secret } from '../../config/secret.js';
import { type SignedMessage, Signer } from './sign.js';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const signatureHeaders = (message: SignedMessage, secrets: readonly Secret[]) => new Signer(secrets).headers(message);
const message = () => ({
  id: '4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21',
  timestampSeconds: Math.floor(Date.now() / 1000),
  body: JSON.stringify({ content: 'é 🎈' }),
});

describe('the signature of a webhook', () => {
  it('can be verified with each of two secrets, so that receivers can change the secret at any time', () => {
    const secrets = [newSecret(), newSecret()];
    const signed = message();
    const headers = signatureHeaders(
      signed,
      secrets.map((secret) => new Secret(secret)),
    );
    for (const secret of secrets) expect(new Webhook(secret).verify(signed.body, headers)).toEqual({ content: 'é 🎈' });
    expect(() => new Webhook(newSecret()).verify(signed.body, headers)).toThrow('No matching signature');
  });

  it('covers body, id and timestamp', () => {
    const secret = newSecret();
    const signed = message();
    const headers = signatureHeaders(signed, [new Secret(secret)]);
    const verifier = new Webhook(secret);
    expect(() => verifier.verify(`${signed.body} `, headers)).toThrow();
    expect(() => verifier.verify(signed.body, { ...headers, 'webhook-id': 'another' })).toThrow();
    const later = { ...headers, 'webhook-timestamp': String(signed.timestampSeconds + 1) };
    expect(() => verifier.verify(signed.body, later)).toThrow();
  });

  it('matches the example of the specification', () => {
    // The example from the tests of the standardwebhooks libraries.
    const headers = signatureHeaders(
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1614265330, body: '{"test": 2432232314}' },
      [new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
    );
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});
