import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newSigningSecret, signatureHeaders } from './signature.js';

const body = '{"prompt":"Grüße \u{1f600}"}';

describe('a signing secret', () => {
  it('is 256 random bits in the format of Standard Webhooks', () => {
    const secrets = Array.from({ length: 20 }, newSigningSecret);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    }
    expect(new Set(secrets).size).toBe(20);
  });
});

describe('the signature', () => {
  it('is absent without a secret', () => {
    expect(signatureHeaders({ id: 'msg_1', at: new Date(), body }, [])).toEqual({});
  });

  it('has the time in whole seconds, rounded down', () => {
    const headers = signatureHeaders({ id: 'msg_1', at: new Date('2026-01-01T00:00:00.999Z'), body }, [
      newSigningSecret(),
    ]);
    expect(headers).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-timestamp': '1767225600' });
  });

  it('is accepted by the reference implementation for each of several secrets', () => {
    const secrets = [newSigningSecret(), newSigningSecret()];
    const headers = signatureHeaders({ id: 'msg_1', at: new Date(), body }, secrets);
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(newSigningSecret()).verify(body, headers)).toThrow('No matching signature');
    expect(() => new Webhook(secrets[0] ?? '').verify(`${body} `, headers)).toThrow('No matching signature');
  });

  it('equals the example of the reference implementation', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const at = new Date(1_614_265_330_000);
    const payload = '{"test": 2432232314}';
    const expected = new Webhook(secret).sign('msg_p5jXN8AQM9LWM0D4loKWxJek', at, payload);
    const headers = signatureHeaders({ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at, body: payload }, [secret]);
    expect(headers['webhook-signature']).toBe(expected);
    expect(expected).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});
