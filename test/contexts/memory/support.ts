import type { Answer, TestService } from '../../support/harness.js';
import { calls, says } from '../../support/scripted-models.js';
import type { RunResult, Talk } from '../../support/talk.js';

export interface MemoryView {
  readonly id: string;
  readonly text: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The fields of a run that name its user. */
export const of = (userId: unknown): { readonly config: { readonly userContext: { readonly userId: unknown } } } => ({
  config: { userContext: { userId } },
});

/** Makes the agent save a memory of a user in a run. @returns the output of the tool */
export async function save(
  service: TestService,
  talk: Talk,
  userId: unknown,
  text: unknown,
  more: object = {},
): Promise<string> {
  service.models.next(calls('memory_save', { text, ...more }), says('Noted.'));
  return outputOf(await talk.run('Remember this', of(userId)));
}

/** Makes the agent search the memories of a user. @returns the output of the tool */
export async function search(service: TestService, talk: Talk, userId: unknown, query: unknown): Promise<string> {
  service.models.next(calls('memory_search', { query }), says('Found.'));
  return outputOf(await talk.run('What do you know?', of(userId)));
}

function outputOf({ status, text, body }: Answer<RunResult>): string {
  const output = body.message?.toolCalls?.[0]?.output;
  if (status !== 200 || output === undefined) throw new Error(`run: ${status} ${text}`);
  return output;
}

export function memories(
  service: TestService,
  { agentId, key }: Pick<Talk, 'agentId' | 'key'>,
  userId: string,
): Promise<Answer<{ memories: MemoryView[] }>> {
  return service.http('GET', `/v1/agents/${agentId}/memories?userId=${encodeURIComponent(userId)}`, { key });
}

export async function textsOf(
  service: TestService,
  talk: Pick<Talk, 'agentId' | 'key'>,
  userId: string,
): Promise<string[]> {
  return (await memories(service, talk, userId)).body.memories.map(({ text }) => text);
}

/** The codes of the memories in a text that a model reads. */
export function codesIn(text: string): string[] {
  return [...text.matchAll(/⟦memory ([0-9a-f]{8}), /g)].map(([, code = '']) => code);
}
