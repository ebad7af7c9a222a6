import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { anthropicWire, geminiWire, openaiWire } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import {
  ALL_TOOLS,
  type Dial,
  offeredTools,
  PERMITTED,
  setDial,
  systemPrompt,
  talkWithComponents,
  WIDGET,
} from './support.js';

const service = useService();

beforeEach(() => {
  service.models.always(says('Hello'));
});

const BUTTONS = ['present_confirm', 'present_select'];
/** A text in the system prompt of every run that may show components. */
const INSTRUCTIONS = 'present_';

describe.each([anthropicWire, openaiWire])('an agent of $provider', (wire) => {
  const start = (dial?: Dial): Promise<Talk> => talkWithComponents(service, dial, { wire });

  async function offeredIn(talk: Talk, more: Readonly<Record<string, unknown>> = WIDGET): Promise<string[]> {
    const { status, text } = await talk.run('Hi', more);
    if (status !== 200) throw new Error(`run: ${status} ${text}`);
    const offered = offeredTools(service);
    expect(systemPrompt(service).includes(INSTRUCTIONS)).toBe(offered.length > 0);
    return offered;
  }

  it.each(['low', 'medium', 'high'] as const)(
    'is offered all components that are switched on at the frequency %s',
    async (frequency) => {
      expect(await offeredIn(await start({ frequency }))).toEqual(ALL_TOOLS);
    },
  );

  it('is offered none at the frequency off, and all after a change of the frequency', async () => {
    const talk = await start({ frequency: 'off' });
    expect(await offeredIn(talk)).toEqual([]);
    await setDial(service, talk, { frequency: 'low' });
    expect(await offeredIn(talk)).toEqual(ALL_TOOLS);
    await setDial(service, talk, { frequency: 'off' });
    expect(await offeredIn(talk)).toEqual([]);
  });

  it('is offered none if the organization lacks the feature', async () => {
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
    await setDial(service, talk, { frequency: 'high' });
    expect(await offeredIn(talk)).toEqual([]);
    await service.cli('org', 'set', talk.organization.id, ...PERMITTED);
    expect(await offeredIn(talk)).toEqual(['present_confirm', 'present_select', 'present_card']);
    await service.cli('org', 'set', talk.organization.id, '--features', '-response_components');
    expect(await offeredIn(talk)).toEqual([]);
  });

  it('is offered none while its interactive prompts are disabled', async () => {
    const talk = await start();
    await service.cli('agent', 'set', talk.agentId, '--disable-interactive-prompts', 'true');
    expect(await offeredIn(talk)).toEqual([]);
    await service.cli('agent', 'set', talk.agentId, '--disable-interactive-prompts', 'false');
    expect(await offeredIn(talk)).toEqual(ALL_TOOLS);
  });

  it('is offered none without a widget, over the API or in completions', async () => {
    const talk = await start();
    expect(await offeredIn(talk, {})).toEqual([]);
    const body = { model: talk.agentId, messages: [{ role: 'user', content: 'Hi' }] };
    expect(await service.http('POST', '/v1/chat/completions', { key: talk.key, body })).toMatchObject({ status: 200 });
    expect([offeredTools(service), systemPrompt(service)]).toEqual([[], expect.not.stringContaining(INSTRUCTIONS)]);
  });

  it('is offered them on the AG-UI route if the front end is a widget', async () => {
    const talk = await start();
    const run = async (forwardedProps: object): Promise<string[]> => {
      const body = {
        threadId: randomUUID(),
        runId: randomUUID(),
        messages: [{ id: 'm', role: 'user', content: 'Hi' }],
        forwardedProps,
      };
      await service.http('POST', `/v1/agents/${talk.agentId}/ag-ui`, { key: talk.key, body });
      return offeredTools(service);
    };
    expect(await run(WIDGET)).toEqual(ALL_TOOLS);
    expect(await run({})).toEqual([]);
  });

  it('is offered the components of its switches; list is off by default, table and chart have no components', async () => {
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } }, ...PERMITTED);
    const switched = async (components: Readonly<Record<string, boolean>>): Promise<string[]> => {
      await setDial(service, talk, { frequency: 'high', components });
      return offeredIn(talk);
    };
    expect(await switched({})).toEqual([...BUTTONS, 'present_card']);
    expect(await switched({ card: false })).toEqual(BUTTONS);
    expect(await switched({ table: true, chart: true })).toEqual(BUTTONS);
    expect(await switched({ choiceButtons: false })).toEqual([]);
    expect(await switched({ list: true })).toEqual(['present_list']);
  });

  it('gets different instructions on buttons at each frequency', async () => {
    const talk = await start({ frequency: 'low' });
    const prompts = new Map<string, string>();
    for (const frequency of ['low', 'medium', 'high'] as const) {
      await setDial(service, talk, { frequency });
      await talk.run('Hi', WIDGET);
      prompts.set(frequency, systemPrompt(service));
    }
    expect(prompts.get('low')).toMatch(/only when .* clearly one of a few concrete options, and at most once/);
    expect(prompts.get('medium')).toMatch(/whenever .* plausibly one of a few options; ask open questions in prose/);
    expect(prompts.get('high')).toMatch(
      /at every reasonable opportunity: .* ends in a question, in suggestions or in a choice/,
    );
    expect(new Set(prompts.values()).size).toBe(3);
  });

  it('without buttons gets the same instructions at each frequency, without any on buttons', async () => {
    const talk = await start({ components: { choiceButtons: false } });
    const prompts = new Set<string>();
    for (const frequency of ['low', 'medium', 'high'] as const) {
      await setDial(service, talk, { frequency });
      expect(await offeredIn(talk)).toEqual(['present_card', 'present_list']);
      prompts.add(systemPrompt(service));
    }
    expect(prompts.size).toBe(1);
    for (const text of prompts) expect(text).not.toMatch(/button|present_confirm|present_select/i);
  });
});

it('an agent whose provider emits no components is offered none, whatever is stored', async () => {
  const talk = await Talk.start(
    service,
    { provider: { type: geminiWire.provider, model: geminiWire.model } },
    ...PERMITTED,
  );
  const refused = await service.http('PATCH', `/v1/agents/${talk.agentId}`, {
    key: talk.key,
    body: { responseComponents: { frequency: 'low' } },
  });
  expect(refused).toMatchObject({ status: 422, body: { code: 'unsupported_for_agent_type' } });
  const stored = JSON.stringify({ responseComponents: { frequency: 'high', components: { list: true } } });
  await service.database.query('update agents set settings = settings || $2::jsonb where id = $1', [
    talk.agentId,
    stored,
  ]);
  // A change makes the service read the agent again.
  const renamed = await service.http('PATCH', `/v1/agents/${talk.agentId}`, { key: talk.key, body: { name: 'Other' } });
  expect(renamed).toMatchObject({ status: 200, body: { responseComponents: { frequency: 'high' } } });
  await talk.run('Hi', WIDGET);
  expect([offeredTools(service), systemPrompt(service)]).toEqual([[], expect.not.stringContaining(INSTRUCTIONS)]);
});
