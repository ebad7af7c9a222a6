import { text } from 'node:stream/consumers';
import type { Random } from '../random.ts';
import { HttpServer } from './http-server.ts';

/** How often the receiver has no room; such a delivery comes again after 5 s. */
const REFUSED = 0.02;

/** A customer's endpoint for webhooks. */
export class Receiver {
  /** The events of a run that it has accepted, by the run. */
  readonly eventsOf = new Map<string, Set<string>>();
  received = 0;
  private server: HttpServer | undefined;

  static async start(random: Random): Promise<Receiver> {
    const receiver = new Receiver();
    const refusedOnce = new Set<string>();
    receiver.server = await HttpServer.start(async (request, response) => {
      const { id, type, data } = JSON.parse(await text(request)) as {
        readonly id: string;
        readonly type: string;
        readonly data: { readonly runId?: string };
      };
      receiver.received += 1;
      if (!refusedOnce.has(id) && random.chance(REFUSED)) {
        refusedOnce.add(id);
        response.writeHead(503).end();
        return;
      }
      const { runId = '' } = data;
      receiver.eventsOf.set(runId, (receiver.eventsOf.get(runId) ?? new Set()).add(type));
      response.writeHead(204).end();
    });
    return receiver;
  }

  get host(): string {
    return this.server?.host ?? '';
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}
