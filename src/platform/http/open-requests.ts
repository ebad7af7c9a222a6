import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { ShutdownState, type ShutdownParticipant } from '../lifecycle/index.js';

/** Counts the requests whose response has not ended, streams included. A stopping process waits for them. */
@Injectable()
export class OpenRequests implements ShutdownParticipant {
  readonly name = 'requests';
  private open = 0;
  private waiting: (() => void)[] = [];

  constructor(shutdown: ShutdownState) {
    shutdown.register(this);
  }

  get count(): number {
    return this.open;
  }

  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRequest', (_request, reply, done) => {
      this.open += 1;
      // Emitted once for every response: finished, hijacked or aborted.
      reply.raw.once('close', () => this.closed());
      done();
    });
  }

  idle(): Promise<void> {
    if (this.open === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Nothing to do: a response ends when the work of its request is aborted. */
  abort(): Promise<void> {
    return Promise.resolve();
  }

  private closed(): void {
    this.open -= 1;
    if (this.open > 0) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
