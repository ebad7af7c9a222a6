import type { StreamedEvent, TestService } from '../../support/harness.js';
import { anthropicWire, type ProviderWire, type SentResult } from '../../support/provider-wire.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';

/** The widget of a run. */
export const WIDGET = { widget: { version: '1.0.0' } };
export const ALL_TOOLS = ['present_confirm', 'present_select', 'present_card', 'present_list'];
/** Options of an organization that has the feature. */
export const PERMITTED = ['--features', 'response_components'];

export interface Dial {
  readonly frequency?: 'off' | 'low' | 'medium' | 'high';
  readonly components?: Readonly<Record<string, boolean>>;
}

export async function setDial(
  service: TestService,
  { key, agentId }: Pick<Talk, 'key' | 'agentId'>,
  dial: Dial,
): Promise<void> {
  const { status, text } = await service.http('PATCH', `/v1/agents/${agentId}`, {
    key,
    body: { responseComponents: dial },
  });
  if (status !== 200) throw new Error(`responseComponents: ${status} ${text}`);
}

/** A thread with an agent that may show every component, by default at the frequency medium. */
export async function talkWithComponents(
  service: TestService,
  dial: Dial = {},
  {
    wire = anthropicWire,
    agent = {},
  }: { readonly wire?: ProviderWire; readonly agent?: Readonly<Record<string, unknown>> } = {},
): Promise<Talk> {
  const talk = await Talk.start(
    service,
    { provider: { type: wire.provider, model: wire.model }, ...agent },
    ...PERMITTED,
  );
  const components = { list: true, ...dial.components };
  await setDial(service, talk, { frequency: 'medium', ...dial, components });
  return talk;
}

function newestBody(service: TestService): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

/** The tools for components in the model's newest request. */
export function offeredTools(service: TestService): string[] {
  return sentToolNames(newestBody(service)).filter((name) => name.startsWith('present_'));
}

/** The whole system prompt of the model's newest request. */
export function systemPrompt(service: TestService): string {
  const { system, instructions, systemInstruction } = newestBody(service);
  return textOf(system ?? instructions ?? systemInstruction);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const { parts, text } = value as { parts?: unknown; text?: unknown };
  return textOf(parts ?? text);
}

/** The tool results in the model's newest request. */
export function readByModel(service: TestService, wire: ProviderWire = anthropicWire): SentResult[] {
  return wire.toolResults(newestBody(service));
}

/** The values of the component events, in order. */
export function shownIn(events: readonly StreamedEvent[]): unknown[] {
  return events.flatMap(({ event }) =>
    event.type === 'CUSTOM' && event['name'] === 'component' ? [event['value']] : [],
  );
}
