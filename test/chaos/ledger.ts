import type { Script } from './outside/script.ts';

export interface Ended {
  readonly runId: string;
  readonly status: string;
  readonly errorCode: string | null;
  /** Of the stored reply, as the customer was given it; null without one. */
  readonly content: string | null;
}

/** One message of a customer, and what the service acknowledged of it. */
export interface Turn {
  readonly script: Script;
  readonly content: string;
  readonly clientId: string;
  /** Set once the customer was told in any way that the message is stored. */
  accepted: boolean;
  /** Of its runs: more than one where answers to interrupts followed. */
  readonly ended: Ended[];
  /** What the customer decided about the agent's call. */
  decision: 'none' | 'approved' | 'declined';
}

export interface ThreadRecord {
  readonly id: string;
  readonly agentId: string;
  readonly turns: Turn[];
  deletion: 'none' | 'asked' | 'acknowledged';
}

/** Everything that the service has acknowledged. */
export class Ledger {
  readonly threads = new Map<string, ThreadRecord>();
  /** Uploaded knowledge, by the id of the file: the word in it. */
  readonly documents = new Map<string, string>();

  /** @returns numbers of the thread's messages that were acknowledged before this one */
  acceptedBefore({ thread, number }: Script): number[] {
    const turns = this.threads.get(thread)?.turns ?? [];
    return turns
      .filter(({ accepted, script }) => accepted && script.number < number)
      .map(({ script }) => script.number);
  }
}
