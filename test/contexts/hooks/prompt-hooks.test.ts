import { describe, expect, it } from '@jest/globals';
import { says } from '../../support/scripted-models.js';
import { group, talkWith, useHookServer, useHookService } from './support.js';

const service = useHookService();
const server = useHookServer();

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

describe('UserPromptSubmit', () => {
  it('is asked before the model about every message of the user, with all that an input has', async () => {
    const url = server.url('/asked');
    const talk = await talkWith(service, { UserPromptSubmit: [group([{ type: 'http', url }])] });
    service.models.next(says('Hello'), says('Bye'));
    await talk.run('Hi', { config: { userContext: { plan: 'gold' } } });
    await talk.run('And now?');
    const [first, second] = server.of('/asked');
    expect(first).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json', 'x-hook-event': 'UserPromptSubmit' } });
    expect(first?.input).toEqual({
      session_id: talk.threadId,
      hook_event_name: 'UserPromptSubmit',
      agent_id: talk.agentId,
      run_id: (await talk.messages())[0]?.runId,
      user_context: { plan: 'gold' },
      prompt: 'Hi',
    });
    expect(second?.input).toMatchObject({ prompt: 'And now?', user_context: {} });
    expect(server.of('/asked')).toHaveLength(2);
  });

  it('puts every context next to the message, in the order of the handlers', async () => {
    const talk = await talkWith(service, {
      UserPromptSubmit: [
        group([{ type: 'http', url: server.url('/first', () => ({ additionalContext: 'It is Monday.' })) }]),
        group([
          { type: 'http', url: server.url('/second', () => ({ hookSpecificOutput: { additionalContext: 'It rains.' } })) },
          { type: 'http', url: server.url('/third') },
        ]),
      ],
    });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'Hi\n\nIt is Monday.\n\nIt rains.' }]);
  });

  it.each([
    ['its reason', { decision: 'block', reason: 'Not on a Sunday.' }, 'Not on a Sunday.'],
    ['a plain sentence where it says none', { decision: 'block' }, expect.stringMatching(/^\S.*\.$/)],
  ])('that blocks ends the run as completed with %s; the model is not called', async (what, output, shown) => {
    const talk = await talkWith(service, {
      UserPromptSubmit: [group([{ type: 'http', url: server.url(`/blocks/${what.length}`, () => output) }])],
    });
    expect(await talk.run('Let me in')).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: shown, blocked: true } },
    });
    expect(service.models.requests).toEqual([]);
  });
});
