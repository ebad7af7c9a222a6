import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger, ThreadRecord, Turn } from '../ledger.ts';
import { type Script, textOf } from '../outside/script.ts';
import type { Random } from '../random.ts';
import { type Api, Unresolved } from './api.ts';
import { type Mode, type Outcome, type Request, Turns } from './turns.ts';

/** The agents of the run, by what they do. */
export interface Agents {
  readonly talks: readonly string[];
  /** Have the tool that pays. */
  readonly pays: readonly string[];
  /** Ask before they pay. */
  readonly asks: readonly string[];
  readonly knows: string;
  readonly reads: string;
}

const TURNS_OF_A_THREAD = 25;
const STOCK = {
  name: 'stock',
  description: 'How many are in stock.',
  parameters: { type: 'object', properties: { nonce: { type: 'string' } } },
};
const KINDS = { talks: 6, long: 2, cancels: 1, leaves: 1, follows: 2, pays: 2, asks: 2, ownTool: 1, attaches: 1 };
type Kind = keyof typeof KINDS;

/** Talks on one thread at a time, and writes down what was acknowledged. */
export class Customer {
  private readonly name: string;
  private readonly api: Api;
  private readonly ledger: Ledger;
  private readonly agents: Agents;
  private readonly random: Random;
  private readonly turns: Turns;
  readonly outcomes: Record<string, number>;

  constructor(options: {
    readonly name: string;
    readonly api: Api;
    readonly ledger: Ledger;
    readonly agents: Agents;
    readonly random: Random;
    readonly outcomes: Record<string, number>;
  }) {
    this.name = options.name;
    this.api = options.api;
    this.ledger = options.ledger;
    this.agents = options.agents;
    this.random = options.random;
    this.outcomes = options.outcomes;
    this.turns = new Turns(options.api, options.random);
  }

  async talkUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const thread = await this.openThread().catch(() => undefined);
      if (!thread) continue;
      const length = this.random.whole(3, TURNS_OF_A_THREAD);
      for (let number = 1; number <= length && !isOver(); number += 1) {
        const goesOn = await this.take(thread, number).catch((error: unknown) => {
          if (error instanceof Unresolved) return false;
          throw error;
        });
        if (!goesOn) break;
        await sleep(this.random.between(100, 1200));
      }
      if (this.random.chance(0.25)) await this.delete(thread).catch(() => undefined);
    }
  }

  private async openThread(): Promise<ThreadRecord> {
    const pool = this.random.weighted({ talks: 5, pays: 2, asks: 2 });
    const agentId = this.random.of(this.agents[pool]);
    const { status, body } = await this.api.until<{ id: string }>('POST', '/v1/threads', {
      body: { assistant_id: agentId },
      headers: { 'idempotency-key': randomUUID() },
    });
    if (status !== 200) throw new Unresolved(`thread ${status}`);
    const thread: ThreadRecord = { id: body.id, agentId, turns: [], deletion: 'none' };
    this.ledger.threads.set(thread.id, thread);
    return thread;
  }

  private async delete(thread: ThreadRecord): Promise<void> {
    thread.deletion = 'asked';
    const { status } = await this.api.until('DELETE', `/v1/threads/${thread.id}`);
    // The repeat of a request whose answer was lost finds nothing more.
    if (status === 200 || status === 204 || status === 404) thread.deletion = 'acknowledged';
    else this.api.findings.add('delete', `A thread could not be deleted: ${status}`, { thread: thread.id });
  }

  private kind({ agentId }: ThreadRecord): Kind {
    const kind = this.random.weighted(KINDS);
    if (this.agents.pays.includes(agentId)) return kind === 'asks' ? 'pays' : kind;
    if (this.agents.asks.includes(agentId)) return kind === 'pays' ? 'asks' : kind;
    return kind === 'pays' || kind === 'asks' ? 'talks' : kind;
  }

  /** One message with all that follows from it. @returns whether the thread can go on */
  private async take(thread: ThreadRecord, number: number): Promise<boolean> {
    const kind = this.kind(thread);
    const nonce = `${this.name}-${randomUUID().slice(0, 13)}`;
    const isLong = ['long', 'cancels', 'leaves', 'follows'].includes(kind);
    const call = kind === 'ownTool' ? 'stock' : kind === 'pays' || kind === 'asks' ? 'pay' : undefined;
    const attachments = kind === 'attaches' ? await this.attachment(nonce) : undefined;
    const script: Script = {
      thread: thread.id,
      number,
      nonce,
      words: isLong ? this.random.whole(20, 80) : this.random.whole(1, 12),
      everyMs: isLong ? this.random.whole(20, 120) : this.random.whole(0, 10),
      ...(call && { call }),
      ...(attachments && { attached: wordIn(nonce) }),
    };
    const turn: Turn = {
      script,
      content: textOf(script),
      clientId: nonce,
      accepted: false,
      ended: [],
      decision: 'none',
    };
    thread.turns.push(turn);
    const message = { role: 'user', content: turn.content, id: turn.clientId, ...(attachments && { attachments }) };
    const body = { message, ...(kind === 'ownTool' && { tools: [STOCK] }) };
    const request: Request = { thread, turn, body, mode: this.mode(kind), beside: besideOf(kind) };
    const outcome = await this.turns.run(request);
    return this.goOn(request, outcome);
  }

  /** Answers what the run asks for. */
  private async goOn(request: Request, outcome: Outcome): Promise<boolean> {
    this.count(outcome);
    if (outcome.status !== 'requires_action' || outcome.interrupts.length === 0) return true;
    const { turn } = request;
    const approves = this.random.chance(0.7);
    if (turn.script.call === 'pay') turn.decision = approves ? 'approved' : 'declined';
    const resume = outcome.interrupts.map(({ id, reason }) => ({
      interruptId: id,
      status: 'resolved',
      payload: reason === 'client_tool_call' ? { result: { count: 7 } } : { approved: approves },
    }));
    const mode = this.random.of<Mode>(['waiting', 'streamed']);
    const next = await this.turns.run({ ...request, body: { resume }, mode, beside: 'nothing', after: outcome.runId });
    return this.goOn(request, next);
  }

  private count({ status, errorCode }: Outcome): void {
    const name = errorCode === null ? status : `${status} (${errorCode})`;
    this.outcomes[name] = (this.outcomes[name] ?? 0) + 1;
  }

  private mode(kind: Kind): Mode {
    if (besideOf(kind) !== 'nothing') return 'streamed';
    return this.random.weighted({ waiting: 2, streamed: 4, background: 1 });
  }

  private async attachment(nonce: string): Promise<object[] | undefined> {
    const form = new FormData();
    form.set('file', new File([`The word in this file is ${wordIn(nonce)}.`], 'note.txt', { type: 'text/plain' }));
    const { status, body } = await this.api.until<{ url: string; name: string; contentType: string }>(
      'POST',
      '/v1/files/upload',
      { body: form },
    );
    if (status === 200) return [{ name: body.name, url: body.url, contentType: 'text/plain' }];
    this.api.findings.add('upload', `An upload was refused with ${status}`, { body });
    return undefined;
  }
}

function wordIn(nonce: string): string {
  return `attached-${nonce}`;
}

function besideOf(kind: Kind): Request['beside'] {
  switch (kind) {
    case 'cancels':
      return 'cancel';
    case 'leaves':
      return 'leave';
    case 'follows':
      return 'follow';
    case 'talks':
    case 'long':
    case 'pays':
    case 'asks':
    case 'ownTool':
    case 'attaches':
      return 'nothing';
    default:
      return kind satisfies never;
  }
}
