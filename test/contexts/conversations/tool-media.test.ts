import { afterEach, describe, expect, it } from '@jest/globals';
import { RunRepository } from '../../../src/conversations/persistence/run.repository.js';
import type { ToolResult } from '../../../src/conversations/index.js';
import { AttachmentMemory } from '../../../src/files/index.js';
import { approve, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { loseNextAnswer } from '../../support/lost-answer.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { answers, calls, type ModelScript, refuses, says } from '../../support/scripted-models.js';
import { during, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { type SentMedium, sentResults } from '../../support/sent-media.js';
import { endOf, Talk } from '../../support/talk.js';

const service = useService({ extensions: scriptedRuns });

// Occur only in the requests to the model.
const PNG = 'iVBORw0KGgoCANARYpng';
const PDF = 'JVBERi0CANARYpdf';
const CANARY = /CANARY/;
const SHOWN: readonly SentMedium[] = [
  { mediaType: 'image/png', data: PNG },
  { mediaType: 'application/pdf', data: PDF },
];
const NOT_SHOWN =
  /^A chart and a report\.\n\n\[The file "chart\.png" \(image\/png\) .*\]\n\n\[The file "report\.pdf" \(application\/pdf\) .*\]$/;

function shows(): Promise<ToolResult> {
  return Promise.resolve({
    output: 'A chart and a report.',
    isError: false,
    media: [
      { kind: 'image', name: 'chart.png', mediaType: 'image/png', data: PNG },
      { kind: 'pdf', name: 'report.pdf', mediaType: 'application/pdf', data: PDF },
    ],
  });
}

const show = tool('show', shows, 'read_only');

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

afterEach(() => {
  expect(service.app.get(AttachmentMemory).bytes).toBe(0);
});

describe.each(AGENT_WIRES)('the media of a result on $provider', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model } };

  it('reaches the model with every further call of the run; clients and later runs get only its name', async () => {
    const talk = await Talk.start(service, agent);
    let midway: unknown;
    const look = tool('look', async () => {
      midway = await talk.storedRows();
      return { output: 'seen', isError: false };
    });
    during(talk.threadId, { tools: [show, look] });
    service.models.next(calls('show'), calls('look'), says('Nice.'), says('Bye.'));

    const events = await talk.streamed('Show me');

    for (const { body } of service.models.requests.slice(1)) {
      expect(sentResults(body)[0]).toEqual({ id: 'call_show', text: 'A chart and a report.', media: SHOWN });
    }
    expect(service.models.requests).toHaveLength(3);
    expect(events.find(({ event }) => event.type === 'TOOL_CALL_RESULT')?.event['content']).toBe(
      'A chart and a report.',
    );
    const [, message] = await talk.messages();
    expect(message?.toolCalls?.[0]).toMatchObject({ output: 'A chart and a report.', status: 'completed' });
    const trace = await talk.trace();
    expect(JSON.stringify(trace.steps)).toContain('chart.png');
    expect(JSON.stringify([events, message, trace, midway, await talk.storedRows()])).not.toMatch(CANARY);

    await talk.run('Thanks');
    expect(JSON.stringify(lastBody())).not.toMatch(CANARY);
    expect(sentResults(lastBody())[0]).toMatchObject({ text: expect.stringMatching(NOT_SHOWN), media: [] });
  });

  it('is left out when the provider refuses it, and the run continues', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [show] });
    let held: number | undefined;
    const cannotSee: ModelScript = (exchange, spoken) => {
      held = service.app.get(AttachmentMemory).bytes;
      return says('I cannot see it.')(exchange, spoken);
    };
    service.models.next(calls('show'), refuses(400), cannotSee);

    expect(await talk.run('Show me')).toMatchObject({
      body: { run: { status: 'completed' }, message: { content: 'I cannot see it.' } },
    });

    expect(JSON.stringify(service.models.requests[1]?.body)).toMatch(CANARY);
    expect(JSON.stringify(lastBody())).not.toMatch(CANARY);
    expect(held).toBe(0);
    expect(sentResults(lastBody())).toMatchObject([{ text: expect.stringMatching(NOT_SHOWN), media: [] }]);
  });

  it('is sent in the run that resumes with approved calls, and in no later one', async () => {
    const talk = await Talk.start(service, { ...agent, tools: { requireApprovalForResourceChanges: true } });
    during(talk.threadId, { tools: [show, new NotingTool('pay').offered] });
    const pays = (id: string) => calls('pay', {}, id);
    service.models.next(
      answers({
        calls: [
          { id: 's', name: 'show' },
          { id: 'p', name: 'pay' },
        ],
      }),
    );
    const first = await talk.run('Show me, then pay');
    expect(first.body.run.status).toBe('requires_action');
    expect(await talk.storedRows()).toHaveLength(4);

    service.models.next(pays('q'));
    const second = await talk.resume(...first.body.interrupts.map(approve));
    expect(second.body.run.status).toBe('requires_action');
    expect(sentResults(lastBody())[0]).toEqual({ id: 's', text: 'A chart and a report.', media: SHOWN });

    service.models.next(says('Paid.'), says('Bye.'));
    expect(await talk.resume(...second.body.interrupts.map(approve))).toMatchObject({
      body: { run: { status: 'completed' } },
    });
    expect(sentResults(lastBody())[0]).toEqual({ id: 's', text: 'A chart and a report.', media: SHOWN });
    expect(JSON.stringify(await talk.storedRows())).not.toMatch(CANARY);

    await talk.run('Thanks');
    expect(sentResults(lastBody())[0]).toMatchObject({ text: expect.stringMatching(NOT_SHOWN), media: [] });
  });
});

describe('the media of a result', () => {
  it.each(['findKeptResults', 'removeKeptResults'] as const)(
    'are there for the run that resumes when the database has executed a statement and its answer was lost (%s)',
    async (lost) => {
      const talk = await Talk.start(service, { tools: { requireApprovalForResourceChanges: true } });
      during(talk.threadId, { tools: [show, new NotingTool('pay').offered] });
      service.models.next(
        answers({
          calls: [
            { id: 's', name: 'show' },
            { id: 'p', name: 'pay' },
          ],
        }),
        says('Paid.'),
      );
      const { interrupts } = (await talk.run('Show me, then pay')).body;
      const runs = service.app.get(RunRepository, { strict: false });
      loseNextAnswer(runs, lost);
      expect(await talk.resume(...interrupts.map(approve))).toMatchObject({ body: { run: { status: 'completed' } } });
      expect(sentResults(lastBody())[0]).toMatchObject({ text: 'A chart and a report.', media: SHOWN });
      expect(JSON.stringify(await talk.storedRows())).not.toMatch(CANARY);
    },
  );

  it('are removed when a message comes instead of an approval, and clients never see them', async () => {
    const talk = await Talk.start(service, { tools: { requireApprovalForResourceChanges: true } });
    during(talk.threadId, { tools: [show, new NotingTool('pay').offered] });
    service.models.next(
      answers({
        calls: [
          { id: 's', name: 'show' },
          { id: 'p', name: 'pay' },
        ],
      }),
    );
    const { body } = await talk.run('Show me, then pay');
    expect(JSON.stringify(await talk.storedRows())).toMatch(CANARY);
    const read = [body, await talk.messages(), await talk.trace(), await talk.storedAs(body.run.id)];
    expect(JSON.stringify(read)).not.toMatch(CANARY);

    service.models.next(says('Fine.'));
    await talk.run('Never mind');

    expect(JSON.stringify([lastBody(), await talk.storedRows()])).not.toMatch(CANARY);
    expect(sentResults(lastBody())[0]).toMatchObject({ text: expect.stringMatching(NOT_SHOWN) });
  });

  it('are only the newest when there are too many', async () => {
    const talk = await Talk.start(service);
    let page = 0;
    const pages = (): Promise<ToolResult> => {
      const media = Array.from(
        { length: 15 },
        () => ({ kind: 'image', name: `${(page += 1)}.png`, mediaType: 'image/png', data: `page${page}` }) as const,
      );
      return Promise.resolve({ output: 'Pages.', isError: false, media });
    };
    during(talk.threadId, { tools: [tool('turn', pages)] });
    service.models.next(calls('turn', {}, 'a'), calls('turn', {}, 'b'), says('Read.'));

    expect(await talk.run('Read it')).toMatchObject({ status: 200 });

    const [older, newer] = sentResults(lastBody());
    expect(newer).toMatchObject({ text: 'Pages.' });
    expect([older?.media.length, newer?.media.length]).toEqual([5, 15]);
    expect(older?.text.match(/not shown again/g)).toHaveLength(10);
  });

  it('of earlier rounds stay when the newest are refused', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: [show] });
    service.models.next(calls('show', {}, 'a'), calls('show', {}, 'b'), refuses(400), says('I see one.'));
    expect(await talk.run('Show me twice')).toMatchObject({ body: { run: { status: 'completed' } } });
    expect(sentResults(lastBody()).map(({ media }) => media.length)).toEqual([2, 0]);
  });

  it('are left out once; a provider that refuses the rest too fails the run', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: [show] });
    service.models.next(calls('show'), refuses(400), refuses(400));
    const events = await talk.streamed('Show me');
    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'provider_error' });
    expect(JSON.stringify(await talk.storedRows())).not.toMatch(CANARY);
  });
});
