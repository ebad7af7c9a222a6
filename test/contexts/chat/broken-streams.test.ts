import { afterEach, expect, it, jest } from '@jest/globals';
import { JoinRun } from '../../../src/conversations/application/join-run.js';
import { RunSupervisor } from '../../../src/conversations/application/run-supervisor.js';
import { until, useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { Chat, user } from './support.js';

const lines: string[] = [];
const service = useService({
  environment: { LOG_LEVEL: 'error' },
  log: { write: (line) => void lines.push(line) },
});

afterEach(async () => {
  // The streams end before their runs.
  await until(() => service.app.get(RunSupervisor).runs.length === 0, 'the runs end');
  jest.restoreAllMocks();
  lines.length = 0;
});

function breakEvents(): void {
  jest.spyOn(service.app.get(JoinRun), 'wholeRun').mockRejectedValueOnce(new Error('The log is broken'));
  service.models.always(says('Hello'));
}

/** The log names the request, whose own line has the run. */
function expectLogged(requestId: unknown): void {
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ requestId, err: expect.objectContaining({ message: 'The log is broken' }) }),
  ]);
}

it('a completion whose events cannot be read ends with an error and [DONE]', async () => {
  const chat = await Chat.start(service);
  breakEvents();
  const { chunks, end, headers } = await chat.streamed([user('Hi')]);
  const error = { message: 'The events of this run cannot be read.', type: 'server_error', code: 'internal' };
  expect(chunks.slice(1)).toEqual([{ error }]);
  expect(end).toBe('[DONE]');
  expectLogged(headers.get('x-request-id'));
});

it('a run whose events cannot be read ends its stream with RUN_ERROR', async () => {
  const talk = await Talk.start(service);
  breakEvents();
  const events = await talk.streamed('Hi');
  const error = { type: 'RUN_ERROR', code: 'internal', message: 'The events of this run cannot be read.' };
  expect(events.map(({ event }) => event)).toEqual([error]);
  expectLogged(expect.stringMatching(/./));
});
