import { Injectable } from '@nestjs/common';
import { Clock, Turns } from '../../platform/clock/index.js';
import { EgressFailed, EgressRefused, type EgressResponse, SafeHttp } from '../../platform/egress/index.js';
import { newId } from '../../platform/ids/index.js';
import { signatureHeaders, validSecrets } from '../../platform/standard-webhooks/index.js';
import { ConfidentialTexts } from '../../platform/vault/index.js';
import { HandlerFailed, type HookOutput, readOutput } from '../domain/hook-output.js';
import { type HttpHandler, type PlacedHandler, timeoutMsOf } from '../domain/hooks-document.js';
import { MAX_RESPONSE_BYTES } from '../limits.js';
import type { HttpCredentials } from './hooks-of-agents.js';

const UNREADABLE =
  'The stored headers or the signing secret can no longer be decrypted. Set the hooks again and rotate the secret.';

/** Longer responses are parsed one at a time: those of one event arrive together and would block the event loop. */
const SMALL_RESPONSE_CHARACTERS = 10_000;

@Injectable()
export class CallHttpHandler {
  private readonly turns = new Turns();

  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the endpoint's output, with headers and secrets that it repeats removed
   * @throws HandlerFailed; the reason of `signal` when it aborts
   */
  async execute(
    placed: PlacedHandler<HttpHandler>,
    credentials: HttpCredentials | null,
    body: string,
    signal: AbortSignal,
  ): Promise<HookOutput> {
    if (!credentials) throw new HandlerFailed(UNREADABLE);
    const headers = credentials.headers[placed.event]?.[placed.index] ?? {};
    const at = this.clock.now();
    const secrets = credentials.signing ? validSecrets(credentials.signing, at) : [];
    const signed = signatureHeaders({ id: `msg_${newId()}`, at, body }, secrets);
    const own = { 'content-type': 'application/json', 'x-hook-event': placed.event, ...signed };
    const response = await this.post(placed, { ...lowerCased(headers), ...own }, body, signal);
    if (response.length > SMALL_RESPONSE_CHARACTERS) await this.turns.next();
    // People and models read the output, so it must not repeat a secret.
    const confidential = new ConfidentialTexts([...Object.values(headers), ...secrets]);
    return readOutput(response, (text) => confidential.redact(text));
  }

  private async post(
    placed: PlacedHandler<HttpHandler>,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<string> {
    try {
      const response = await this.http.request(placed.handler.url, {
        ...{ purpose: 'hook', method: 'POST', headers: { accept: 'application/json', ...headers }, body, signal },
        ...{ maxBytes: MAX_RESPONSE_BYTES, timeoutMs: timeoutMsOf(placed), redirects: 'none' },
      });
      requireSuccess(response);
      return await response.body.text();
    } catch (error) {
      if (error instanceof EgressRefused || error instanceof EgressFailed) throw new HandlerFailed(error.message);
      throw error;
    }
  }
}

function requireSuccess({ status, body }: EgressResponse): void {
  if (status >= 200 && status < 300) return;
  body.discard();
  throw new HandlerFailed(`The endpoint responded with the status ${status}.`);
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
