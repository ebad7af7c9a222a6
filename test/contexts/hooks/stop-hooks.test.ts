import { describe, expect, it } from '@jest/globals';
import { says } from '../../support/scripted-models.js';
import { group, talkWith, useHookServer, useHookService } from './support.js';

const service = useHookService();
const server = useHookServer();

describe('Stop', () => {
  it('is called before a reply ends, which ends when no handler blocks', async () => {
    const talk = await talkWith(service, {
      Stop: [group([{ type: 'http', url: server.url('/stop') }], 'never-looked-at')],
    });
    service.models.next(says('It is so.'));
    await talk.run('Why?');
    expect(server.of('/stop').map(({ input }) => input)).toEqual([
      {
        session_id: talk.threadId,
        hook_event_name: 'Stop',
        agent_id: talk.agentId,
        run_id: (await talk.messages())[0]?.runId,
        user_context: {},
        last_assistant_message: 'It is so.',
        stop_hook_active: false,
      },
    ]);
  });

  it('that blocks sends its reason to the model, which continues once; a further block is ignored', async () => {
    const answer = (reason: string) => (): object => ({ decision: 'block', reason });
    const talk = await talkWith(service, {
      Stop: [
        group([
          { type: 'http', url: server.url('/more/1', answer('Name your sources.')) },
          { type: 'http', url: server.url('/more/2', answer('Be brief.')) },
        ]),
      ],
    });
    service.models.next(says('It is so.'), says('Says the almanac.'));
    await talk.run('Why?');
    expect(service.models.requests).toHaveLength(2);
    expect(service.models.requests[1]?.body['messages']).toMatchObject([
      { role: 'user', content: 'Why?' },
      { role: 'assistant' },
      { role: 'user', content: 'Name your sources.\n\nBe brief.' },
    ]);
    expect(
      server.of('/more/1').map(({ input }) => [input['last_assistant_message'], input['stop_hook_active']]),
    ).toEqual([
      ['It is so.', false],
      ['Says the almanac.', true],
    ]);
    expect(await talk.lines()).toEqual(['user: Why?', 'assistant: It is so.\n\nSays the almanac.']);
    const hooks = (await talk.trace()).steps.filter(({ type }) => type === 'hook');
    expect(hooks.map(({ output }) => (output as { outcome: string }).outcome)).toEqual([
      'blocked',
      'blocked',
      'blocked',
      'blocked',
    ]);
  });

  it('may block once more in the next run', async () => {
    const talk = await talkWith(service, {
      Stop: [group([{ type: 'http', url: server.url('/again', () => ({ decision: 'block', reason: 'More.' })) }])],
    });
    for (const question of ['One?', 'Two?']) {
      service.models.next(says('Yes.'), says('Surely.'));
      await talk.run(question);
    }
    expect(await talk.lines()).toEqual([
      'user: One?',
      'assistant: Yes.\n\nSurely.',
      'user: Two?',
      'assistant: Yes.\n\nSurely.',
    ]);
    expect(server.of('/again').map(({ input }) => input['stop_hook_active'])).toEqual([false, true, false, true]);
  });
});
