import { describe, expect, it } from '@jest/globals';
import { type Answer, useService } from '../../support/harness.js';
import { HeldReply, says } from '../../support/scripted-models.js';
import { assistant, Chat, type Completion, user } from './support.js';

const service = useService();

describe('an Idempotency-Key', () => {
  it('answers a repeat with the first completion, with one run and one thread', async () => {
    const chat = await Chat.start(service);
    const held = new HeldReply(['Once'], ['!']);
    service.models.next(held.script);
    const body = { assistant_id: chat.agentId, messages: [user('One'), assistant('Two'), user('Three')] };
    const ask = (sent: object = body): Promise<Answer<Completion>> =>
      chat.complete(sent, { 'idempotency-key': 'order-1' });

    const first = ask();
    await held.asked;
    const joined = Array.from({ length: 5 }, () => ask());
    held.finish();
    const answers = await Promise.all([first, ...joined, ask()]);

    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0].body });
    expect(service.models.requests).toHaveLength(1);
    expect(await chat.threads()).toHaveLength(1);
    expect((await ask({ ...body, messages: [user('Other')] })).status).toBe(422);
    expect(await chat.threads()).toHaveLength(1);
  });

  it('streams a repeat from its first chunk', async () => {
    const chat = await Chat.start(service);
    service.models.next(says('Once', ' only'));
    const body = { assistant_id: chat.agentId, messages: [user('Hi')], stream: true };
    const ask = async (): Promise<string> => (await chat.complete(body, { 'idempotency-key': 'order-2' })).text;

    const first = await ask();

    expect(await ask()).toBe(first);
    expect(first).toContain('Once');
    expect(service.models.requests).toHaveLength(1);
  });
});
