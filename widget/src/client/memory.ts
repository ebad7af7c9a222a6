import type { ChatOptions } from './options.js';
import type { Seams } from './seams.js';

/** What a tab stores of a conversation, to continue it after a reload of the page. */
export interface Remembered {
  readonly threadId: string;
  readonly sessionId?: string;
  readonly resumeToken?: string;
  /** A session has 240 renewals; a reload with a valid pass needs none. */
  readonly pass?: string;
  /** Milliseconds since the epoch. */
  readonly passEndsAt?: number;
  /** The run that is active or waits for approval. */
  readonly runId?: string;
}

const VERSION = 1;
const TEXTS = ['sessionId', 'resumeToken', 'pass', 'runId'] as const;

/** Never fails: in a browser that stores nothing, every page starts a new conversation. */
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
      // The storage is full or forbidden.
    }
  }

  forget(): void {
    try {
      this.storage?.removeItem(this.key);
    } catch {
      // The storage is forbidden, so it has no entry.
    }
  }
}

/** The entry may be from another script of the page. */
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
