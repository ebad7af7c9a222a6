import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import {
  EgressFailed,
  EgressRefused,
  type EgressResponse,
  retryAfterMs,
  SafeHttp,
} from '../../platform/egress/index.js';
import { signatureHeaders, type SigningSecret, validSecrets } from '../../platform/standard-webhooks/index.js';
import type { AttemptResult } from '../domain/delivery.js';
import { eventBody, type WebhookEvent } from '../domain/webhook-event.js';
import { ATTEMPT_MS, MAX_RESPONSE_BYTES } from '../limits.js';

const UNREADABLE = 'The signing secret can no longer be decrypted. Rotate it.';

export interface Addressee {
  readonly url: string;
  /** Null when it cannot be decrypted: nothing is sent unsigned. */
  readonly signing: SigningSecret | null;
}

/** Sends an event to an endpoint once. */
@Injectable()
export class SendEvent {
  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes at most `ATTEMPT_MS`. Every failure is a result; its text is public and repeats nothing of the response.
   * @throws the reason of `signal` when it aborts
   */
  async execute({ url, signing }: Addressee, event: WebhookEvent, signal: AbortSignal): Promise<AttemptResult> {
    const watch = this.clock.stopwatch();
    const at = watch.startedAt.toISOString();
    const failed = (error: string): AttemptResult => ({
      attempt: { at, status: null, error, latencyMs: watch.elapsedMs() },
      retryAfterMs: null,
    });
    if (!signing) return failed(UNREADABLE);
    try {
      const response = await this.post(url, event, signing, signal);
      const { status, headers } = response;
      const attempt = { at, status, error: errorOf(status), latencyMs: watch.elapsedMs() };
      await readToEnd(response);
      return { attempt, retryAfterMs: retryAfterMs(headers['retry-after'], this.clock.now()) };
    } catch (error) {
      if (error instanceof EgressRefused || error instanceof EgressFailed) return failed(error.message);
      throw error;
    }
  }

  private post(url: string, event: WebhookEvent, signing: SigningSecret, signal: AbortSignal): Promise<EgressResponse> {
    const at = this.clock.now();
    const body = eventBody(event);
    const headers = {
      'content-type': 'application/json',
      ...signatureHeaders({ id: event.id, at, body }, validSecrets(signing, at)),
    };
    return this.http.request(url, {
      ...{ purpose: 'hook', method: 'POST', headers, body, signal, redirects: 'none' },
      ...{ maxBytes: MAX_RESPONSE_BYTES, timeoutMs: ATTEMPT_MS },
    });
  }
}

/** The status decides. The body is read only because the connection is reused after its end. */
async function readToEnd({ body }: EgressResponse): Promise<void> {
  await body.buffer().catch(() => undefined);
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const redirects = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return `The endpoint responded with the status ${status}${redirects}.`;
}
