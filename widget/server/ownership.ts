import { type Fields, isRecord } from './fields.js';
import type { Settings, Visitor } from './options.js';
import { notFound, Refusal } from './problems.js';
import type { Service } from './service.js';
import { rememberedOf } from './store.js';

/** The entry of a conversation's metadata that tells whose it is. */
export const OWNER = 'visitor';
/** Conversations that a process remembers the visitor of: some megabytes. */
const MAX_KNOWN = 10_000;

/** What a proof is about, so that a proof of one kind is none of another. */
export type Proven = 'thread' | 'file';

/**
 * Which conversations and files belong to which visitor, without a database: conversations that the handler opens have a
 * keyed digest of the visitor's id in their metadata; for those of sessions and for uploads the browser keeps a proof.
 */
export class Ownership {
  private readonly settings: Settings;
  private readonly service: Service;
  private key: ReturnType<typeof importKey> | null = null;
  /** The most recently used last. An owner never changes. */
  private readonly known = new Set<string>();

  constructor(settings: Settings, service: Service) {
    this.settings = settings;
    this.service = service;
  }

  /** The same for each request of the visitor, and not computable without the secret. */
  digestOf({ id }: Visitor): Promise<string> {
    return this.digest(['visitor', id]);
  }

  /** @returns visible ASCII characters that only the handler can make for this visitor and value */
  prove(kind: Proven, visitor: Visitor, value: string): Promise<string> {
    return this.digest([kind, visitor.id, value]);
  }

  async isProven(kind: Proven, visitor: Visitor, value: string, proof: string): Promise<boolean> {
    const signature = bytesOf(proof);
    if (!signature) return false;
    return crypto.subtle.verify('HMAC', await this.signingKey(), signature, contentOf([kind, visitor.id, value]));
  }

  /** False does not mean that it is another visitor's. */
  remembers({ id }: Visitor, threadId: string): boolean {
    return this.known.has(entryOf(id, threadId));
  }

  remember({ id }: Visitor, threadId: string): void {
    const entry = entryOf(id, threadId);
    this.known.delete(entry);
    this.known.add(entry);
    const [oldest] = this.known;
    if (this.known.size > MAX_KNOWN && oldest !== undefined) this.known.delete(oldest);
  }

  /** Whether the thread is a conversation of the visitor with this agent. */
  async owns(visitor: Visitor, threadId: string, signal: AbortSignal): Promise<boolean> {
    if (this.remembers(visitor, threadId)) {
      this.remember(visitor, threadId);
      return true;
    }
    const thread = await this.read(threadId, signal);
    if (!thread) return false;
    const { metadata } = thread;
    if (isRecord(metadata) && metadata[OWNER] === (await this.digestOf(visitor))) {
      this.remember(visitor, threadId);
      return true;
    }
    const remembered = await rememberedOf(this.settings, visitor);
    return remembered.some((conversation) => conversation.threadId === threadId);
  }

  /** @throws Refusal 404 */
  async require(visitor: Visitor, threadId: string, signal: AbortSignal): Promise<void> {
    if (!(await this.owns(visitor, threadId, signal))) throw notFound();
  }

  /** @returns the thread; null if there is none, or it is with another agent */
  async read(threadId: string, signal: AbortSignal): Promise<Fields | null> {
    try {
      const thread = await this.service.json({ method: 'GET', path: `/v1/threads/${threadId}`, signal, relays: [404] });
      return thread['assistant_id'] === this.settings.assistantId ? thread : null;
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) return null;
      throw error;
    }
  }

  private async digest(parts: readonly string[]): Promise<string> {
    const signature = await crypto.subtle.sign('HMAC', await this.signingKey(), contentOf(parts));
    const text = btoa(String.fromCharCode(...new Uint8Array(signature)));
    return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  }

  private signingKey(): ReturnType<typeof importKey> {
    this.key ??= importKey(this.settings.secret);
    return this.key;
  }
}

function importKey(secret: string) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign', 'verify']);
}

/** The name keeps the digests apart from others that the same key makes. */
function contentOf(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(['agent-chat-widget', ...parts]));
}

function bytesOf(proof: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w-]{43}$/.test(proof)) return null;
  return Uint8Array.from(atob(proof.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
}

function entryOf(visitorId: string, threadId: string): string {
  return `${threadId}:${visitorId}`;
}
