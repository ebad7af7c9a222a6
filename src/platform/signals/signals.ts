import { z } from 'zod';
import { newId } from '../ids/index.js';

export type SignalFields = Readonly<Record<string, string>>;

const envelope = z.object({ from: z.string(), kind: z.string(), about: z.record(z.string(), z.string()) });

/**
 * Tells the other processes of the service that there is something to look at, for example in the database. A signal arrives at most
 * once, may be lost, and has no order. So its receiver also finds out without it, only later, and relies on nothing that it says.
 */
export class Signals {
  private readonly from = newId();
  private readonly subscribers = new Map<string, (about: SignalFields) => void>();

  /** @param send carries a text to all processes; null when there are no others */
  constructor(private readonly send: ((text: string) => Promise<unknown>) | null) {}

  /** Neither waits nor fails. Call it after the commit of what the receivers look at. */
  publish(kind: string, about: SignalFields): void {
    const text = JSON.stringify({ from: this.from, kind, about } satisfies z.infer<typeof envelope>);
    this.send?.(text).catch(() => undefined);
  }

  /** Calls `subscriber`, the only one of this kind, with every signal of other processes. It must not throw. */
  subscribe(kind: string, subscriber: (about: SignalFields) => void): void {
    if (this.subscribers.has(kind)) throw new Error(`The signal ${kind} has a subscriber already`);
    this.subscribers.set(kind, subscriber);
  }

  /** Takes a text that a process has sent, this one too; any other text is ignored. */
  receive(text: string): void {
    const signal = envelope.safeParse(parsed(text)).data;
    if (!signal || signal.from === this.from) return;
    this.subscribers.get(signal.kind)?.(signal.about);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
