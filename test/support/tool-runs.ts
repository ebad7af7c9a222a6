import type { IntegrationView } from '../contexts/integrations/support.js';
import type { RunningService } from './harness.js';
import { anthropicWire, type SentResult, type WireAnswer } from './provider-wire.js';
import type { ModelScript, ScriptedModels } from './scripted-models.js';
import type { Talk } from './talk.js';

/** What `LyingToolServer` offers, by the name that the model sees in an integration called `app`. */
export function echoOf(app: string): string {
  return `mcp__${app}__echo`;
}

export interface ToolServer {
  readonly url: string;
  readonly app?: string;
  readonly transportType?: 'sse' | 'streamableHttp';
  /** In the vault. */
  readonly secretHeaders?: Readonly<Record<string, string>>;
}

export function customServer({
  url,
  app = 'tickets',
  transportType = 'streamableHttp',
  secretHeaders = {},
}: ToolServer): object {
  const [headerKey] = Object.keys(secretHeaders);
  const auth = headerKey === undefined ? { type: 'none' } : { type: 'static', headerKey };
  const httpHeaders = Object.fromEntries(
    Object.entries(secretHeaders).map(([name, value]) => [name, { type: 'secret', value }]),
  );
  return { type: 'custom-mcp', app, url, transportType, auth, httpHeaders };
}

type Owner = Pick<Talk, 'key' | 'agentId'>;

/** Gives the agent a tool server. */
export async function attach(service: RunningService, owner: Owner, server: ToolServer): Promise<IntegrationView> {
  const answer = await service.http<IntegrationView>('POST', integrationsPath(owner), {
    key: owner.key,
    body: customServer(server),
  });
  if (answer.status !== 201) throw new Error(`integration: ${answer.status} ${answer.text}`);
  return answer.body;
}

export function integrationsPath({ agentId }: Pick<Talk, 'agentId'>): string {
  return `/v1/agents/${agentId}/tool-integrations`;
}

/** The results of tools in the model's newest request. */
export function modelRead(models: ScriptedModels): SentResult[] {
  return anthropicWire.toolResults(models.requests.at(-1)?.body ?? {});
}

/** The model calls these tools in one answer, and ends with what it read of them, as JSON. */
export function usesTools(...names: readonly string[]): ModelScript[] {
  return [answers(names.map((name, index) => ({ id: `call-${index}`, name, input: { text: 'x' } }))), repeatsResults];
}

/** The same for any number of runs at once. */
export function alwaysUses(name: string): ModelScript {
  const [calls, repeats] = [answers([{ id: 'call-0', name, input: { text: 'x' } }]), repeatsResults];
  return (exchange, wire) => (wire.toolResults(exchange.request.body).length === 0 ? calls : repeats)(exchange, wire);
}

/** Says the results of the tools that it was sent, as a JSON list of their texts. */
const repeatsResults: ModelScript = (exchange, wire) =>
  exchange.sendAll(wire.text([JSON.stringify(wire.toolResults(exchange.request.body).map(({ output }) => output))]));

function answers(calls: NonNullable<WireAnswer['calls']>): ModelScript {
  return (exchange, wire) => exchange.sendAll(wire.answer({ calls }));
}
