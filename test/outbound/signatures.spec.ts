import { createHmac } from 'node:crypto';

import { Webhook } from 'standardwebhooks';

import { webhookHeaders } from '../../src/http-client/signatures.js';

const SENT_AT = 1_731_705_121_000;
const BODY = '{"event_type":"ping","data":{"success":true}}';

describe('the headers of a delivery', () => {
  // The vectors of the specification (Standard Webhooks, "Signature scheme") and of its reference libraries' tests.
  test.each([
    [
      'whsec_plJ3nmyCDGBKInavdOK15jsl',
      { id: 'msg_loFOjxBNrRLzqYUf', sentAt: SENT_AT, body: BODY },
      'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    ],
    [
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', sentAt: 1_614_265_330_000, body: '{"test": 2432232314}' },
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    ],
  ])('have the signature that Standard Webhooks publishes for %s', (secret, content, signature) => {
    expect(webhookHeaders([secret], content)).toMatchObject({
      'webhook-id': content.id,
      'webhook-timestamp': String(content.sentAt / 1_000),
      'webhook-signature': signature,
    });
  });

  it('have no signature without a secret', () => {
    expect(webhookHeaders([], { id: 'an-id', sentAt: SENT_AT + 999, body: BODY })).toEqual({
      'webhook-id': 'an-id',
      'webhook-timestamp': '1731705121',
    });
  });

  it('satisfy receivers that know either of two secrets, and Flock receivers by the first', () => {
    const secrets = ['the new secret: größer', 'whsec_plJ3nmyCDGBKInavdOK15jsl'] as const;
    const headers = webhookHeaders(secrets, { id: 'an-id', sentAt: Date.now(), body: BODY });
    const receivers = [new Webhook(Buffer.from(secrets[0], 'utf8'), { format: 'raw' }), new Webhook(secrets[1])];
    for (const receiver of receivers) expect(receiver.verify(BODY, headers)).toEqual(JSON.parse(BODY));
    expect(() => new Webhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').verify(BODY, headers)).toThrow(
      'No matching signature',
    );
    expect(headers['x-flock-signature']).toBe(`sha256=${createHmac('sha256', secrets[0]).update(BODY).digest('hex')}`);
  });

  it("sign for Flock with a secret's text, encoded or not", () => {
    const secret = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
    expect(webhookHeaders([secret], { id: 'an-id', sentAt: SENT_AT, body: BODY })['x-flock-signature']).toBe(
      `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`,
    );
  });
});
