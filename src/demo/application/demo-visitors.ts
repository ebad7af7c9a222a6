import { Injectable } from '@nestjs/common';
import { type DemoAgent, DemoAgents } from './demo-agent.js';
import { ServiceClient, ServiceRefusal } from './service-client.js';

/** Session credentials in the format of the widget. */
export interface FlatCredentials {
  readonly pass: string;
  readonly threadId: string;
  readonly sessionId: string;
  readonly expiresIn: number;
  readonly resumeToken?: string;
}

interface MintedSession {
  readonly session: { readonly id: string; readonly thread_id: string };
  readonly pass: { readonly token: string; readonly expiresInSeconds: number };
  readonly resumeToken?: { readonly token: string };
}

const MAX_VISITORS = 10_000;

/** Acts as a customer's server: keeps the conversations of each visitor and mints sessions for them. */
@Injectable()
export class DemoVisitors {
  /** Conversations by visitor, the visitor of the earliest last visit first. */
  private readonly threads = new Map<string, Set<string>>();

  constructor(
    private readonly agents: DemoAgents,
    private readonly service: ServiceClient,
  ) {}

  /** A browser may send any thread id; only those of its own conversations are used. */
  async session(
    visitor: string,
    { resumeToken, threadId }: { readonly resumeToken?: string; readonly threadId?: string },
  ): Promise<FlatCredentials> {
    const endUser = `demo-${visitor}`;
    const minted =
      resumeToken === undefined ? await this.mint(visitor, endUser, threadId) : await this.renew(resumeToken, endUser);
    const { id: sessionId, thread_id } = minted.session;
    this.remember(visitor, thread_id);
    const { token: pass, expiresInSeconds: expiresIn } = minted.pass;
    return { pass, threadId: thread_id, sessionId, expiresIn, resumeToken: minted.resumeToken?.token };
  }

  owns(visitor: string, threadId: string): boolean {
    return this.threads.get(visitor)?.has(threadId) ?? false;
  }

  async react(
    threadId: string,
    messageId: string,
    rating: { readonly reaction: string | null; readonly comment?: string },
  ): Promise<void> {
    const { key } = await this.agents.get();
    await this.service.ask(key, 'PUT', `/v1/threads/${threadId}/messages/${messageId}/reaction`, rating);
  }

  /** Starts a new conversation when the conversation or the agent has been deleted. */
  private async mint(visitor: string, endUser: string, threadId: string | undefined): Promise<MintedSession> {
    const agent = await this.agents.get();
    const own = threadId !== undefined && this.owns(visitor, threadId) ? { thread_id: threadId } : {};
    try {
      return await this.mintWith(agent, { endUser, ...own });
    } catch (error) {
      if (!(error instanceof ServiceRefusal) || ![401, 404].includes(error.status)) throw error;
      const agentExists = error.reason === 'thread_not_found';
      return this.mintWith(agentExists ? agent : await this.agents.replace(agent), { endUser });
    }
  }

  private mintWith(
    { agentId, key }: DemoAgent,
    visit: { readonly endUser: string; readonly thread_id?: string },
  ): Promise<MintedSession> {
    return this.service.ask(key, 'POST', '/v1/sessions', { assistant_id: agentId, ...visit });
  }

  private async renew(resumeToken: string, endUser: string): Promise<MintedSession> {
    const { key } = await this.agents.get();
    return this.service.ask(key, 'POST', '/v1/sessions/refresh', { resumeToken, endUser });
  }

  private remember(visitor: string, threadId: string): void {
    const known = this.threads.get(visitor) ?? new Set();
    this.threads.delete(visitor);
    this.threads.set(visitor, known.add(threadId));
    const [earliest] = this.threads.keys();
    if (this.threads.size > MAX_VISITORS && earliest !== undefined) this.threads.delete(earliest);
  }
}
