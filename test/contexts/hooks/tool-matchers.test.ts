import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../support/harness.js';
import { learn } from '../../support/knowledge.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { ToolServer } from '../../support/tool-server.js';
import { group, setHooks, talkWith, useHookServer, useHookService } from './support.js';

const service = useHookService({ extensions: scriptedRuns });
const endpoint = useHookServer();
let files: ToolServer;

beforeAll(async () => {
  files = await ToolServer.start('streamableHttp', { name: 'read' }, { name: 'Write' }, { name: 'delete_all' });
});
afterAll(() => files.close());

const EVENTS = ['PreToolUse', 'PostToolUse'] as const;
/** Tool names as the model sees them: those of the server, and one without an integration. */
const TOOLS = ['mcp__files__read', 'mcp__files__Write', 'mcp__files__delete_all', 'echo'];
const ALL = TOOLS;

let paths = 0;

/** A group whose handler records the tools that it was called for. */
function listening(matcher?: string): { readonly hooks: object; readonly asked: () => unknown[] } {
  paths += 1;
  const path = `/listening/${paths}`;
  const handler = { type: 'http', url: endpoint.url(path) };
  return {
    hooks: group([handler], matcher),
    asked: () =>
      endpoint
        .of(path)
        .map(({ input }) => input['tool_name'])
        .sort(),
  };
}

async function talkWithFiles(): Promise<Talk> {
  const talk = await Talk.start(service);
  await connect(service, talk, customServer('files', files));
  during(talk.threadId, { tools: [tool('echo', () => output('echoed'))] });
  return talk;
}

describe.each(EVENTS)('a matcher of %s', (event) => {
  it.each<[string, string | undefined, readonly string[]]>([
    ['none', undefined, ALL],
    ['empty', '', ALL],
    ['*', '*', ALL],
    ['an exact name', 'mcp__files__read', ['mcp__files__read']],
    ['a part of a name', 'files', []],
    ['an exact name in another case', 'MCP__files__read', []],
    ['a list', 'echo|mcp__files__Write', ['mcp__files__Write', 'echo']],
    ['a list with names of no tool', 'absent|echo|', ['echo']],
    ['bars alone', '||', []],
    ["a server's own name of its tool", 'read', []],
    ['an expression', 'mcp__files__.*', ['mcp__files__read', 'mcp__files__Write', 'mcp__files__delete_all']],
    [
      'an expression that is nowhere anchored',
      'e.',
      ['mcp__files__read', 'mcp__files__Write', 'mcp__files__delete_all', 'echo'],
    ],
    ['an anchored expression', '^e.*$', ['echo']],
    ['an expression in its case', '_[Ww]rite$', ['mcp__files__Write']],
    ['an expression in another case', '_[w]rite$', []],
    ['an expression of any case', '(?i)WRITE$', ['mcp__files__Write']],
    ['a list that is an expression', '^(?:echo|mcp__files__read)$', ['mcp__files__read', 'echo']],
    ['a star within', 'mcp*', ['mcp__files__read', 'mcp__files__Write', 'mcp__files__delete_all']],
    ['a space', 'echo ', []],
    ['a dot', '.', ALL],
  ])('that is %s (%j)', async (_what, matcher, expected) => {
    const talk = await talkWithFiles();
    const { hooks, asked } = listening(matcher);
    await setHooks(service, talk, { [event]: [hooks] });
    service.models.next(answers({ calls: TOOLS.map((name, index) => ({ id: `call-${index}`, name })) }), says('Done'));
    expect((await talk.run('Go')).body.message?.toolCalls).toHaveLength(TOOLS.length);
    expect(asked()).toEqual([...expected].sort());
  });

  it('is evaluated for each group', async () => {
    const talk = await talkWithFiles();
    const [read, mcp, none] = [listening('mcp__files__read'), listening('^mcp__'), listening('absent')];
    await setHooks(service, talk, { [event]: [read.hooks, mcp.hooks, none.hooks] });
    service.models.next(calls('mcp__files__read'), calls('echo'), says('Done'));
    await talk.run('Go');
    expect([read.asked(), mcp.asked(), none.asked()]).toEqual([['mcp__files__read'], ['mcp__files__read'], []]);
    const steps = (await talk.trace()).steps.filter(({ type }) => type === 'hook');
    expect(steps).toMatchObject([
      { input: { handler: 0, tool: 'mcp__files__read' } },
      { input: { handler: 1, tool: 'mcp__files__read' } },
    ]);
  });

  it('matches the knowledge search by its name', async () => {
    const talk = await Talk.start(service);
    await learn(service, talk, { content: 'The harbour opens at seven.', name: 'hours.txt' });
    const [named, other] = [listening('knowledge_search'), listening('echo')];
    await setHooks(service, talk, { [event]: [named.hooks, other.hooks] });
    await until(async () => {
      service.models.reset();
      service.models.always(says('Hello'));
      await (await talk.another()).run('Hello');
      return sentToolNames(service.models.requests[0]?.body ?? {}).includes('knowledge_search');
    }, 'the search to be offered');
    service.models.reset();
    service.models.next(calls('knowledge_search', { query: 'harbour' }), says('At seven.'));
    expect((await talk.run('When?')).body.message?.toolCalls).toMatchObject([{ status: 'completed' }]);
    expect([named.asked(), other.asked()]).toEqual([['knowledge_search'], []]);
  });
});

describe('a matcher of an event without tools', () => {
  it.each(['UserPromptSubmit', 'Stop'])('is ignored for %s', async (event) => {
    const heard = ['absent', 'a|b', '^never$', '*', ''].map((matcher) => listening(matcher));
    const talk = await talkWith(service, { [event]: heard.map(({ hooks }) => hooks) });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(heard.map(({ asked }) => asked())).toEqual(heard.map(() => [undefined]));
  });

  it('is compared with the source of the session for SessionStart, which is always `startup`', async () => {
    const [startup, resume, list, expression, anything] = [
      'startup',
      'resume',
      'resume|startup',
      '^start',
      undefined,
    ].map((matcher) => listening(matcher));
    const groups = [startup, resume, list, expression, anything].map((each) => each?.hooks ?? {});
    const talk = await talkWith(service, { SessionStart: groups });
    service.models.next(says('Hello'), says('Bye'));
    await talk.run('Hi');
    await talk.run('And now?');
    expect([startup, list, expression, anything].map((each) => each?.asked().length)).toEqual([1, 1, 1, 1]);
    expect(resume?.asked()).toEqual([]);
  });
});
