import { expect, it } from '@jest/globals';
import { NotingTool } from '../../support/approvals.js';
import { readPrometheusText, sampleOf } from '../../support/prometheus-text.js';
import { calls, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { group, talkWith, useHookServer, useHookService } from './support.js';

const service = useHookService({ extensions: scriptedRuns });
const server = useHookServer();

it('each call of a handler is a step of the trace with outcome, verdict and latency, and counts in the metrics', async () => {
  const deny = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'No.' } };
  const talk = await talkWith(service, {
    UserPromptSubmit: [
      group([
        {
          type: 'http',
          url: server.url('/seen/prompt?key=in-the-query'),
          headers: { Authorization: 'Bearer header-canary' },
        },
        { type: 'http', url: server.url('/seen/down', (_hook, response) => void response.writeHead(503).end()) },
      ]),
    ],
    PreToolUse: [group([{ type: 'http', url: server.url('/seen/tool', () => deny) }])],
  });
  during(talk.threadId, { tools: [new NotingTool('echo').offered] });
  service.models.next(calls('echo'), says('Done'));
  await talk.run('Go');

  const trace = await talk.trace();
  const step = { type: 'hook', latencyMs: expect.any(Number), startedAt: expect.stringMatching(/Z$/) };
  expect(trace.steps.filter(({ type }) => type === 'hook')).toMatchObject([
    {
      ...step,
      name: 'UserPromptSubmit',
      input: { handler: 0, type: 'http', url: server.url('/seen/prompt') },
      output: { outcome: 'ok', verdict: {} },
      error: null,
    },
    {
      ...step,
      name: 'UserPromptSubmit',
      input: { handler: 1 },
      output: { outcome: 'failed', verdict: null },
      error: expect.stringContaining('503'),
    },
    {
      ...step,
      name: 'PreToolUse',
      input: { handler: 0, tool: 'echo' },
      output: { outcome: 'blocked', verdict: { permissionDecision: 'deny' } },
      error: null,
    },
  ]);
  expect(JSON.stringify(trace)).not.toMatch(/header-canary|in-the-query/);

  const metrics = readPrometheusText((await service.http('GET', '/metrics')).text);
  const count = (event: string, outcome: string): unknown =>
    sampleOf(metrics, 'agent_service_hook_calls_total', { event, type: 'http', outcome });
  expect([
    count('UserPromptSubmit', 'ok'),
    count('UserPromptSubmit', 'failed'),
    count('PreToolUse', 'blocked'),
  ]).toEqual([1, 1, 1]);
  expect(sampleOf(metrics, 'agent_service_hook_call_seconds_count', { event: 'UserPromptSubmit', type: 'http' })).toBe(
    2,
  );
});
