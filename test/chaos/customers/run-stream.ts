import type { Service } from '../cluster/service.ts';
import { type Api, Broken } from './api.ts';

export interface RunView {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string } | null;
}
export interface Interrupt {
  readonly id: string;
  readonly reason: string;
}
export interface RunAnswer {
  readonly run: RunView;
  readonly message: { readonly id: string; readonly content: string } | null;
  readonly interrupts: readonly Interrupt[];
}
export interface StreamEvent {
  readonly type: string;
  readonly runId?: string;
  readonly delta?: string;
  readonly code?: string;
  readonly message?: string;
  readonly result?: Pick<RunAnswer, 'run' | 'message'>;
}

/** The first number of events that are made from the stored reply. */
const FROM_DATABASE = 900_000_000;

export type Reading = 'ended' | 'broken' | 'silent';

/** The events of one run, read from one or several connections. */
export class RunStream {
  readonly events: StreamEvent[] = [];
  runId: string | undefined;
  /** Of the last event. */
  position = 0;
  /** Whether the end came from the database, to a reader whose log was lost: such a reader may lack text before it. */
  fromDatabase = false;
  private readonly api: Api;

  constructor(api: Api) {
    this.api = api;
  }

  get last(): StreamEvent | undefined {
    return this.events.at(-1);
  }

  get hasEnded(): boolean {
    return this.last?.type === 'RUN_FINISHED' || this.last?.type === 'RUN_ERROR';
  }

  get text(): string {
    return this.events.map(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? (delta ?? '') : '')).join('');
  }

  /** Reads to the end of the connection. @param seen called for each event */
  async read(response: Response, service: Service, seen?: () => void): Promise<Reading> {
    try {
      let pending = '';
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        pending += chunk;
        const blocks = pending.split('\n\n');
        pending = blocks.pop() ?? '';
        for (const block of blocks) if (this.take(block, service)) seen?.();
      }
    } catch {
      return this.hasEnded ? 'ended' : 'broken';
    }
    return this.hasEnded ? 'ended' : 'silent';
  }

  /** Joins the run from the last event on. @returns the status when it cannot be joined */
  async rejoin(threadId: string, service: Service): Promise<Reading | number> {
    const path = `/v1/threads/${threadId}/runs/${this.runId ?? ''}/stream?starting_after=${this.position}`;
    let response: Response;
    try {
      response = await this.api.send('GET', path, { service });
    } catch (error) {
      if (error instanceof Broken) return 'broken';
      throw error;
    }
    if (response.status === 200) return this.read(response, service);
    await response.text().catch(() => '');
    return response.status;
  }

  private take(block: string, service: Service): boolean {
    const id = /^id: ?(\d+)$/m.exec(block)?.[1];
    const data = /^data: ?(.*)$/m.exec(block)?.[1];
    if (data === undefined) return false;
    const event = JSON.parse(data) as StreamEvent;
    // An error that only the connection has, such as that of a log that cannot be read, has no number.
    if (id !== undefined) {
      this.fromDatabase ||= Number(id) >= FROM_DATABASE;
      if (Number(id) !== this.position + 1 && !this.fromDatabase)
        this.api.findings.add('gap', `A stream went on with event ${id} after ${this.position}`, {
          run: this.runId,
          replica: service.name,
        });
      this.position = Number(id);
    }
    if (this.hasEnded)
      this.api.findings.add('after-end', 'A stream went on after its terminal event', { run: this.runId, event });
    this.runId ??= event.runId;
    this.events.push(event);
    return true;
  }
}
