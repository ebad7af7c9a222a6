import type { ChatOptions } from './options.js';
import type { Seams } from './seams.js';

/** What a tab keeps of a conversation, so that a reload of the page goes on with it. */
export interface Remembered {
  readonly threadId: string;
  readonly sessionId?: string;
  readonly resumeToken?: string;
  /** A renewal is one of 240; a reload with a pass that is still good needs none. */
  readonly pass?: string;
  /** Milliseconds since the epoch. */
  readonly passEndsAt?: number;
  /** Of the reply under way, or of the one that waits for approval. */
  readonly runId?: string;
}

const VERSION = 1;
const TEXTS = ['sessionId', 'resumeToken', 'pass', 'runId'] as const;

/** Never fails: a browser that keeps nothing begins anew with each page. */
export class ConversationMemory {
  private readonly key: string;
  private readonly storage: Seams['storage'];

  constructor({ mode, storageKey = 'default', remember = 'tab' }: ChatOptions, { storage }: Seams) {
    this.key = `agent-chat:${mode}:${storageKey}`;
    this.storage = remember === 'tab' ? storage : null;
  }

  read(): Remembered | null {
    try {
      const kept: unknown = JSON.parse(this.storage?.getItem(this.key) ?? 'null');
      return isRemembered(kept) ? kept : null;
    } catch {
      return null;
    }
  }

  write(remembered: Remembered): void {
    try {
      this.storage?.setItem(this.key, JSON.stringify({ version: VERSION, ...remembered }));
    } catch {
      // Full or forbidden.
    }
  }

  forget(): void {
    try {
      this.storage?.removeItem(this.key);
    } catch {
      // Forbidden, so nothing was kept either.
    }
  }
}

/** Another script of the page may have written it. */
function isRemembered(kept: unknown): kept is Remembered {
  if (typeof kept !== 'object' || kept === null) return false;
  const of = kept as Partial<Record<string, unknown>>;
  const isText = (name: string): boolean => of[name] === undefined || typeof of[name] === 'string';
  const end = of['passEndsAt'];
  return (
    of['version'] === VERSION &&
    typeof of['threadId'] === 'string' &&
    TEXTS.every(isText) &&
    (end === undefined || typeof end === 'number')
  );
}
