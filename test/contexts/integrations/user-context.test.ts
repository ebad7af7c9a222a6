import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { TOOL_SERVER_KINDS, ToolServer } from '../../support/tool-server.js';

const USER = { userId: 'u-canary-17', plan: 'gold-canary', seats: 4, trial: false };
const service = useService({ egressAllow: new LoopbackPorts() });
const LOOK = 'mcp__crm__look';

describe.each(TOOL_SERVER_KINDS)('the userContext of a run, to a server over %s', (kind) => {
  let server: ToolServer;
  let talk: Talk;

  beforeAll(async () => {
    server = await ToolServer.start(kind, { name: 'look' });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    server.reset();
    talk = await Talk.start(service);
    await connect(service, talk, customServer('crm', server));
  });

  /** The userContext of every call so far. */
  const received = (): unknown[] => server.calls.map(({ meta }) => meta['userContext']);

  it('is sent with every call, but not to the model', async () => {
    const twice = [
      { id: 'a', name: LOOK },
      { id: 'b', name: LOOK, input: { at: 1 } },
    ];
    service.models.next(answers({ calls: twice }), calls(LOOK, { at: 2 }), says('Done.'));
    const { body } = await talk.run('Look', { config: { userContext: USER } });
    expect(body.run.status).toBe('completed');
    expect(received()).toEqual([USER, USER, USER]);
    expect(service.models.requests).toHaveLength(3);
    expect(JSON.stringify(service.models.requests)).not.toMatch(/canary|userContext/);
    const list = server.requests.map(({ headers, url }) => JSON.stringify([headers, url])).join('\n');
    expect(list).not.toMatch(/canary/);
  });

  it('belongs to the run: a run without one sends none, even over a connection that has sent one', async () => {
    service.models.next(calls(LOOK), says('Done.'), calls(LOOK), says('Done.'));
    await talk.run('Look', { config: { userContext: USER } });
    await talk.run('Again');
    expect(received()).toEqual([USER, undefined]);
    expect(server.calls.map(({ meta }) => 'userContext' in meta)).toEqual([true, false]);
  });

  it('is sent on chat completions and AG-UI too', async () => {
    service.models.next(calls(LOOK), says('Done.'), calls(LOOK), says('Done.'));
    const messages = [{ role: 'user', content: 'Look' }];
    const completion = { assistant_id: talk.agentId, messages, config: { userContext: USER } };
    expect((await service.http('POST', '/v1/chat/completions', { key: talk.key, body: completion })).status).toBe(200);
    const input = {
      ...{ threadId: talk.threadId, runId: 'r1', state: {}, tools: [], context: [] },
      ...{
        messages: [{ id: 'm1', role: 'user', content: 'Look' }],
        forwardedProps: { userContext: { userId: 'other' } },
      },
    };
    for await (const _event of service.stream(`/v1/agents/${talk.agentId}/ag-ui`, { key: talk.key, body: input }))
      continue;
    expect(received()).toEqual([USER, { userId: 'other' }]);
    expect(JSON.stringify(service.models.requests)).not.toMatch(/canary/);
  });

  describe('of an approved call', () => {
    let asking: Talk;
    beforeEach(async () => {
      asking = await Talk.start(service, ASKS_ALWAYS);
      await connect(service, asking, customServer('crm', server));
    });

    /** Runs until a call needs approval. @returns the body that approves the call */
    const ask = async (more: object): Promise<object> => {
      service.models.next(calls(LOOK));
      return { resume: (await asking.run('Look', { ...more })).body.interrupts.map(approve) };
    };
    const contextOfTrace = async (): Promise<unknown> =>
      ((await asking.trace()) as unknown as { userContext?: unknown }).userContext;

    it('is that of the run that asked for approval, with its names in any order, in every continued run', async () => {
      const first = await ask({ config: { userContext: USER } });
      service.models.next(calls(LOOK, { at: 1 }));
      const second = await asking.post(first);
      expect(second.body.run.status).toBe('requires_action');
      const reordered = Object.fromEntries(Object.entries(USER).toReversed());
      service.models.next(says('Done.'));
      const { status } = await asking.post({
        resume: second.body.interrupts.map(approve),
        config: { userContext: reordered },
      });
      expect(status).toBe(200);
      expect(received()).toEqual([USER, USER]);
      expect(await contextOfTrace()).toEqual(USER);
    });

    it('cannot change: the request is refused, nothing is called, and the call can still be approved', async () => {
      const answer = await ask({ config: { userContext: USER } });
      for (const userContext of [{ ...USER, userId: 'approver' }, { userId: USER.userId }, {}]) {
        const refused = await asking.post({ ...answer, config: { userContext } });
        expect(refused).toMatchObject({
          status: 400,
          body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining('body/config/userContext') },
        });
      }
      const input = {
        threadId: asking.threadId,
        runId: 'r',
        state: {},
        tools: [],
        context: [],
        messages: [],
        ...answer,
      };
      const path = `/v1/agents/${asking.agentId}/ag-ui`;
      const elsewhere = { ...input, forwardedProps: { userContext: { userId: 'approver' } } };
      expect(await service.http('POST', path, { key: asking.key, body: elsewhere })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('body/forwardedProps/userContext') },
      });
      expect(received()).toEqual([]);
      service.models.next(says('Done.'));
      for await (const _event of service.stream(path, { key: asking.key, body: input })) continue;
      expect(received()).toEqual([USER]);
    });

    it('cannot be added if the run that asked had none', async () => {
      const answer = await ask({});
      expect((await asking.post({ ...answer, config: { userContext: USER } })).status).toBe(400);
      service.models.next(says('Done.'));
      expect((await asking.post({ ...answer, config: { userContext: {} } })).status).toBe(200);
      expect(server.calls.map(({ meta }) => 'userContext' in meta)).toEqual([false]);
    });
  });
});
