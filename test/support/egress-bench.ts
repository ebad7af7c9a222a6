import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { type Clock, SystemClock } from '../../src/platform/clock/index.js';
import { type Dial, type EgressRequest, NameResolver, UndiciSafeHttp } from '../../src/platform/egress/index.js';
import { Canary } from './canary.js';

/** An address on the public internet; nothing here ever connects to it. */
export const PUBLIC = '93.184.215.14';
export const REQUEST: EgressRequest & { readonly maxBytes: number } = {
  purpose: 'crawl',
  maxBytes: 1_000_000,
  timeoutMs: 10_000,
  redirects: 'none',
};

/** Answers from a function of the test, and records the names. */
export class ScriptedResolver extends NameResolver {
  readonly names: string[] = [];

  constructor(private readonly answer: (name: string, count: number) => readonly string[]) {
    super();
  }

  async resolvePublic(name: string): Promise<readonly string[]> {
    this.names.push(name);
    const answers = this.answer(name, this.names.length);
    if (answers.length === 0) throw new Error(`queryA ENOTFOUND ${name}`);
    return answers;
  }

  async resolveOwn(): Promise<readonly string[]> {
    return ['127.0.0.1'];
  }
}

export interface ClientOptions {
  readonly allow?: readonly string[];
  readonly resolver?: NameResolver;
  readonly dial?: Dial;
  readonly clock?: Clock;
  readonly ca?: string;
}

/** Egress clients, and a canary server that some of them may reach. */
class EgressBench {
  private readonly clients: UndiciSafeHttp[] = [];

  private running: Canary | undefined;

  get canary(): Canary {
    if (!this.running) throw new Error('The canary runs only while tests do');
    return this.running;
  }

  async start(): Promise<void> {
    this.running = await Canary.start();
  }

  /** By default no host is exempt and no name resolves. */
  client({ allow = [], resolver, dial, clock, ca }: ClientOptions = {}): UndiciSafeHttp {
    const made = new UndiciSafeHttp({
      exemptions: new Set(allow),
      resolver: resolver ?? new ScriptedResolver(() => []),
      clock: clock ?? new SystemClock(),
      ...(dial && { dial }),
      ...(ca !== undefined && { tls: { ca } }),
    });
    this.clients.push(made);
    return made;
  }

  /** May talk to the canary, and to nothing else that is not public. */
  toCanary(options: ClientOptions = {}): UndiciSafeHttp {
    return this.client({ allow: [`127.0.0.1:${this.canary.port}`], ...options });
  }

  /** For which every name is public, and leads to the canary. */
  named(options: ClientOptions = {}): UndiciSafeHttp {
    return this.client({
      resolver: new ScriptedResolver(() => [PUBLIC]),
      dial: () => connect({ host: '127.0.0.1', port: this.canary.port }),
      ...options,
    });
  }

  async closeClients(): Promise<void> {
    await Promise.all(this.clients.splice(0).map((client) => client.close()));
    this.canary.respond((_request, response) => response.end('canary'));
  }

  async close(): Promise<void> {
    await this.closeClients();
    await this.canary.close();
  }
}

/** A bench for the tests of a file; no client outlives its test. */
export function useEgressBench(): EgressBench {
  const bench = new EgressBench();
  beforeAll(() => bench.start());
  afterEach(() => bench.closeClients());
  afterAll(() => bench.close());
  return bench;
}

/** What `work` fails with. */
export async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error('It was answered');
    },
    (error: unknown) => error as Error,
  );
}
