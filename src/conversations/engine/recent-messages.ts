import { Injectable } from '@nestjs/common';
import type { Message } from '../domain/message.js';
import { RECENT_CHARACTERS } from './tunables.js';

/** The newest messages of a thread, oldest first. */
export interface ThreadTail {
  readonly messages: readonly Message[];
  /** How many the thread has before them; null where nobody has counted. */
  readonly before: number | null;
}

interface Kept extends ThreadTail {
  readonly revision: number;
  readonly characters: number;
}

/**
 * What this process has read and written of the threads it talks on, so that a turn reads nothing that the
 * turn before has. Every start and every end of a run, in whichever process, counts the thread's revision up
 * in the statement that stores its message: a tail of the revision that a run has started at is what the
 * database holds.
 */
@Injectable()
export class RecentMessages {
  /** The one used last is the last one. */
  private readonly threads = new Map<string, Kept>();
  private readonly sizes = new WeakMap<Message, number>();
  private characters = 0;

  /** @returns undefined where the thread is not kept, or has changed since */
  find(threadId: string, revision: number): ThreadTail | undefined {
    const kept = this.threads.get(threadId);
    if (kept?.revision === revision) return kept;
    this.forget(threadId);
    return undefined;
  }

  /** @param revision of the thread once these were its newest messages */
  keep(threadId: string, revision: number, { messages, before }: ThreadTail): void {
    this.forget(threadId);
    const characters = messages.reduce((sum, message) => sum + this.sizeOf(message), 0);
    // Talking on one thread must not cost all the others their place.
    if (characters > RECENT_CHARACTERS / 4) return;
    this.threads.set(threadId, { messages, before, revision, characters });
    this.characters += characters;
    for (const [oldest] of this.threads) {
      if (this.characters <= RECENT_CHARACTERS) break;
      this.forget(oldest);
    }
  }

  private forget(threadId: string): void {
    this.characters -= this.threads.get(threadId)?.characters ?? 0;
    this.threads.delete(threadId);
  }

  private sizeOf(message: Message): number {
    const known = this.sizes.get(message);
    if (known !== undefined) return known;
    const { content, toolCalls, transcript, attachments = [] } = message;
    const tools = toolCalls.length === 0 ? 0 : JSON.stringify([toolCalls, transcript]).length;
    const size = MESSAGE_CHARACTERS + content.length + tools + attachments.length * MESSAGE_CHARACTERS;
    this.sizes.set(message, size);
    return size;
  }
}

/** What a message takes beside its text, in characters of text. */
const MESSAGE_CHARACTERS = 200;
