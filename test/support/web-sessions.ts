import type { Answer, RunningService } from './harness.js';

export interface Token {
  readonly token: string;
  readonly expiresAt: string;
  readonly expiresInSeconds: number;
}

/** What the mint answers; a renewal answers it without the resume token. */
export interface Credentials {
  readonly session: {
    readonly id: string;
    readonly assistant_id: string;
    readonly thread_id: string;
    readonly expiresAt: string;
  };
  readonly pass: Token;
  readonly resumeToken: Token;
}

/** A web session as the customer's server begins it. */
export async function mintSession(
  service: RunningService,
  key: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Credentials> {
  const answer = await service.http<Credentials>('POST', '/v1/sessions', { key, body });
  if (answer.status !== 201) throw new Error(`session: ${answer.status} ${answer.text}`);
  return answer.body;
}

export function renewSession(
  service: RunningService,
  key: string,
  { resumeToken }: Credentials,
  endUser?: string,
): Promise<Answer<Credentials>> {
  const body = { resumeToken: resumeToken.token, ...(endUser === undefined ? {} : { endUser }) };
  return service.http<Credentials>('POST', '/v1/sessions/refresh', { key, body });
}

/** The claims of a pass, without a check of its signature. */
export function partsOf(token: string): { header: Record<string, unknown>; payload: Record<string, unknown> } {
  const [header = '', payload = ''] = token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  return { header: read(header), payload: read(payload) };
}
