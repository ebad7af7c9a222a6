import { ChatError } from './chat-error.js';
import { askForCredentials } from './credentials.js';
import type { ConversationMemory, Remembered } from './memory.js';
import type { CredentialsRequest, DirectOptions, ProxyOptions, SessionOptions } from './options.js';
import type { Seams } from './seams.js';

/** Authenticates requests to the service. */
export interface Authority {
  /** The headers of the next request. */
  headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** Called when a credential has expired. @returns whether there is a new one */
  renew(signal: AbortSignal): Promise<boolean>;
}

export function fixedAuthority(options: ProxyOptions | DirectOptions): Authority {
  const headers = (): Readonly<Record<string, string>> =>
    options.mode === 'direct' ? { authorization: `Bearer ${options.apiKey}` } : { ...options.headers };
  return { headers: () => Promise.resolve(headers()), renew: () => Promise.resolve(false) };
}

/** A pass is renewed before a request if it is valid for less than this, or for less than a tenth of its lifetime. */
const MARGIN_MS = 30_000;

interface Pass {
  readonly token: string;
  /** On the monotonic clock. */
  readonly endsAt: number;
  readonly renewAt: number;
}

/** Gets the passes of the session from the customer's server. */
export class SessionAuthority implements Authority {
  private readonly options: SessionOptions;
  private readonly memory: ConversationMemory;
  private readonly seams: Seams;
  private readonly wait: (seconds: number, signal: AbortSignal) => Promise<void>;
  private session: Remembered | null = null;
  private pass: Pass | null = null;
  private asking: Promise<unknown> | null = null;

  /** @param wait waits as the customer's server has told, and shows it */
  constructor(
    options: SessionOptions,
    memory: ConversationMemory,
    seams: Seams,
    wait: (seconds: number, signal: AbortSignal) => Promise<void>,
  ) {
    this.options = options;
    this.memory = memory;
    this.seams = seams;
    this.wait = wait;
  }

  /** Null before the first credentials. */
  get current(): Remembered | null {
    return this.session;
  }

  /**
   * Starts a session, or resumes a stored one. If the stored session cannot be renewed, a new session of the same conversation
   * replaces it.
   * @param isNew the visitor wants a new conversation
   * @returns whether the conversation may have messages
   */
  async begin(remembered: Remembered | null, isNew: boolean, signal: AbortSignal): Promise<boolean> {
    const { seams } = this;
    this.session = remembered;
    if (remembered?.pass !== undefined && remembered.passEndsAt !== undefined && remembered.sessionId !== undefined) {
      const left = remembered.passEndsAt - seams.now();
      if (left > MARGIN_MS) {
        this.pass = {
          token: remembered.pass,
          endsAt: seams.monotonic() + left,
          renewAt: seams.monotonic() + left - MARGIN_MS,
        };
        return true;
      }
    }
    const { threadId, resumeToken } = remembered ?? {};
    if (resumeToken !== undefined) {
      const renewed = await this.ask({ resumeToken }, signal).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof ChatError)) throw error;
          return false;
        },
      );
      if (renewed) return true;
    }
    const request = threadId === undefined ? (isNew ? { newConversation: true as const } : {}) : { threadId };
    const credentials = await this.ask(request, signal);
    return !credentials.isNew;
  }

  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (this.pass && this.seams.monotonic() >= this.pass.renewAt && this.session?.resumeToken !== undefined) {
      // If an early renewal fails, the pass is still valid.
      await this.renew(signal).catch((error: unknown) => {
        if (!this.pass || this.seams.monotonic() >= this.pass.endsAt) throw error;
      });
    }
    if (!this.pass) throw new Error('The session has not started');
    return { authorization: `Bearer ${this.pass.token}` };
  }

  /** Concurrent requests with an expired pass share one renewal. */
  async renew(signal: AbortSignal): Promise<boolean> {
    const resumeToken = this.session?.resumeToken;
    if (resumeToken === undefined) return false;
    if (!this.asking) {
      const asking = this.ask({ resumeToken }, signal).finally(() => {
        if (this.asking === asking) this.asking = null;
      });
      this.asking = asking;
    }
    await this.asking;
    return true;
  }

  forget(): void {
    this.session = null;
    this.pass = null;
    this.asking = null;
  }

  private async ask(request: CredentialsRequest, signal: AbortSignal): Promise<{ readonly isNew: boolean }> {
    const { seams } = this;
    const asked = seams.monotonic();
    const {
      pass,
      threadId,
      sessionId,
      expiresIn,
      resumeToken = request.resumeToken,
      isNew = false,
    } = await askForCredentials(this.options, request, seams, this.wait, signal);
    const known = this.session;
    if (request.resumeToken !== undefined && known?.threadId !== threadId) {
      throw new ChatError('credentials', 'The renewed credentials are for another conversation.', { terminal: true });
    }
    const life = expiresIn * 1000;
    // Counted from the request for the pass, so that the time of the response does not count as validity.
    this.pass = { token: pass, endsAt: asked + life, renewAt: asked + life - Math.min(MARGIN_MS, life / 2) };
    const runId = known?.threadId === threadId ? known.runId : undefined;
    this.session = {
      threadId,
      sessionId,
      pass,
      passEndsAt: seams.now() + life - (seams.monotonic() - asked),
      ...(resumeToken === undefined ? {} : { resumeToken }),
      ...(runId === undefined ? {} : { runId }),
    };
    this.memory.write(this.session);
    return { isNew };
  }

  /** Stores which run is active. */
  noteRun(runId: string | null): void {
    if (!this.session) return;
    const { runId: _before, ...rest } = this.session;
    this.session = runId === null ? rest : { ...rest, runId };
    this.memory.write(this.session);
  }
}
