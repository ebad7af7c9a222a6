import { untilAborted } from '../../platform/clock/index.js';
import type { TokenSource } from './mcp-endpoint.js';

const MAX_REMEMBERED = 4;

/** The bearer tokens of one connection: every refused one is replaced once, however many requests were refused with it. */
export class ServerTokens {
  private readonly successors = new Map<string, Promise<string>>();
  private readonly given = new Set<string>();

  constructor(
    private readonly source: TokenSource,
    /** The connection's: replacing goes on for the others when one request is aborted. */
    private readonly life: AbortSignal,
  ) {}

  async current(signal: AbortSignal): Promise<string> {
    const token = await this.source.current(signal);
    return this.remembered((await this.successors.get(token)) ?? token);
  }

  async replace(rejected: string, challenge: string | null, signal: AbortSignal): Promise<string> {
    let successor = this.successors.get(rejected);
    if (!successor) {
      successor = this.source.replace(rejected, challenge, this.life);
      this.successors.set(rejected, successor);
      successor.catch(() => this.successors.delete(rejected));
      evictOldest(this.successors);
    }
    return this.remembered(await untilAborted(successor, signal));
  }

  /** The last ones that the server was sent. */
  sent(): readonly string[] {
    return [...this.given];
  }

  private remembered(token: string): string {
    this.given.add(token);
    evictOldest(this.given);
    return token;
  }
}

function evictOldest(entries: Map<string, unknown> | Set<string>): void {
  const [oldest] = entries.keys();
  if (entries.size > MAX_REMEMBERED && oldest !== undefined) entries.delete(oldest);
}
