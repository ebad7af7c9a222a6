import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it } from '@jest/globals';
import { useService, type StreamedEvent } from '../../support/harness.js';
import { AGENT_WIRES, geminiWire, type ProviderWire } from '../../support/provider-wire.js';
import { answers, calls, type ModelScript, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk, textOf } from '../../support/talk.js';

const UNREADABLE_IN_A_ROW = 3;

const service = useService({ extensions: scriptedRuns });

const sends =
  (frames: readonly string[]): ModelScript =>
  (exchange) =>
    exchange.sendAll(frames);

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

function ofType(events: readonly StreamedEvent[], type: string): StreamedEvent['event'][] {
  return events.map(({ event }) => event).filter((event) => event.type === type);
}

/** The inputs of the earlier calls in a request, in the provider's format. */
function inputsIn(body: unknown): unknown[] {
  if (Array.isArray(body)) return body.flatMap(inputsIn);
  if (typeof body !== 'object' || body === null) return [];
  const { type, input, arguments: json, functionCall } = body as Record<string, unknown>;
  if (type === 'tool_use') return [input];
  if (type === 'function_call') return [JSON.parse(String(json))];
  if (functionCall !== undefined) return [(functionCall as { args: unknown }).args];
  return Object.values(body).flatMap(inputsIn);
}

interface Judged {
  readonly ran: unknown[];
  readonly judged: unknown[];
}

/** A talk whose agent needs approval for each call of the tool, and whose hooks record the calls that they get. */
async function careful(wire: ProviderWire): Promise<Judged & { talk: Talk }> {
  const provider = { type: wire.provider, model: wire.model };
  const talk = await Talk.start(service, { provider, tools: { requireApprovalBeforeToolCalls: true } });
  const seen: Judged = { ran: [], judged: [] };
  const lookUp = tool('look_up', (input) => {
    seen.ran.push(input);
    return output('18 degrees');
  });
  const beforeToolCall = (_run: unknown, call: { input: unknown }) => {
    seen.judged.push(call.input);
    return Promise.resolve({ decision: 'allow' as const });
  };
  during(talk.threadId, { tools: [lookUp], hooks: { beforeToolCall } });
  return { talk, ...seen };
}

describe.each(AGENT_WIRES)('a call on $provider whose arguments are not a JSON object', (wire) => {
  const written = ['[1]', '"x"', 'null'].map(
    (json) => [json, wire.toolCall({ id: 't1', name: 'look_up', inputParts: [json] })] as const,
  );
  const cut = wire === geminiWire ? [] : [['{"city":', wire.unreadableToolCall] as const];

  it.each([...written, ...cut])(
    '(%s) is a tool error that the model reads and corrects, without hooks and approval',
    async (json, frames) => {
      const { talk, ran, judged } = await careful(wire);
      service.models.next(sends(frames), calls('look_up', { city: 'Oslo' }, 't2'));

      const events = await talk.streamed('Weather?');

      for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
      const results = [
        { id: 't1', output: expect.stringContaining(`not a JSON object. What was written: ${json} `), isError: true },
      ];
      expect(wire.toolResults(lastBody())).toEqual(results);
      expect(inputsIn(lastBody())).toEqual([{}]);
      expect(ofType(events, 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)).toEqual(['t1', 't2']);
      expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ toolCallId: 't1', content: results[0]?.output }]);
      expect(endOf(events)).toMatchObject({ outcome: { type: 'interrupt', interrupts: [{ toolCallId: 't2' }] } });
      expect((await talk.messages())[1]?.toolCalls).toEqual([
        { id: 't1', name: 'look_up', input: {}, output: results[0]?.output, status: 'failed' },
        { id: 't2', name: 'look_up', input: { city: 'Oslo' }, status: 'awaiting_approval' },
      ]);
      expect({ ran, judged }).toEqual({ ran: [], judged: [{ city: 'Oslo' }] });
      const steps = (await talk.trace()).steps.filter(({ type }) => type === 'tool');
      expect(steps[0]).toMatchObject({ name: 'look_up', input: json, error: results[0]?.output });
    },
  );

  it('(nested too deeply) is a tool error too, and the end of the run is stored', async () => {
    const { talk, ran } = await careful(wire);
    // The fake of Gemini writes the arguments as JSON, which is not possible with more levels.
    const levels = wire === geminiWire ? 1_000 : 5_000;
    const json = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    service.models.next(sends(wire.toolCall({ id: 't1', name: 'look_up', inputParts: [json] })), says('I cannot.'));

    expect(await talk.run('Weather?')).toMatchObject({ status: 200, body: { message: { content: 'I cannot.' } } });
    expect(inputsIn(lastBody())).toEqual([{}]);
    expect(ran).toEqual([]);
  });

  it('is sent back with its provider state in a form that the provider takes, in later runs too', async () => {
    const { talk } = await careful(wire);
    service.models.next(
      answers({ opaque: 'sealed-state', calls: [{ id: 't1', name: 'look_up', input: [1] }] }),
      says('I cannot.'),
      says('Sorry.'),
    );

    expect(await talk.run('Weather?')).toMatchObject({ status: 200, body: { message: { content: 'I cannot.' } } });
    expect(JSON.stringify(lastBody())).toContain('sealed-state');
    expect(inputsIn(lastBody())).toEqual([{}]);
    await talk.run('And now?');
    expect(inputsIn(lastBody())).toEqual([{}]);
    expect(wire.toolResults(lastBody())).toMatchObject([{ id: 't1', isError: true }]);
  });
});

describe('a call that its provider cannot read', () => {
  const unreadable = sends(geminiWire.unreadableToolCall);
  const lastText = (): string => JSON.stringify(lastBody()['contents']);

  it('causes a note for the model, which corrects the call', async () => {
    const { talk, ran } = await careful(geminiWire);
    service.models.next(
      sends(geminiWire.text(['Let me look.']).with(-1, geminiWire.unreadableToolCall[0] ?? '')),
      unreadable,
      says('It is warm.'),
    );

    const events = await talk.streamed('Weather?');

    expect(textOf(events)).toBe('Let me look.\n\nIt is warm.');
    expect(endOf(events)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(lastText().match(/tool call that could not be read/g)).toHaveLength(2);
    expect(ran).toEqual([]);
    expect((await talk.trace()).steps.map(({ error }) => error)).toEqual([
      'The model wrote a tool call that cannot be read.',
      'The model wrote a tool call that cannot be read.',
      null,
    ]);
    service.models.next(says('Yes.'));
    await talk.run('Sure?');
    expect(lastText()).not.toContain('could not be read');
  });

  it('fails the run when the model repeats it too often', async () => {
    const { talk } = await careful(geminiWire);
    service.models.next(...Array.from({ length: UNREADABLE_IN_A_ROW + 1 }, () => unreadable));

    expect(await talk.run('Weather?')).toMatchObject({ status: 502, body: { code: 'provider_error' } });
    expect(service.models.unexpected).toEqual([]);
    service.models.next(says('Back'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
  });
});
