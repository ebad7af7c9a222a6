import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../../../platform/clock/index.js';
import {
  EgressFailed,
  EgressRefused,
  type EgressRequest,
  OperatorHttp,
  retryAfterMs,
} from '../../../platform/egress/index.js';
import { DriveFailure } from '../domain/drive-failure.js';

export interface DriveResponse {
  readonly status: number;
  readonly body: Buffer;
  /** Undefined without `Retry-After`. */
  readonly retryAfterMs: number | undefined;
}

/** Requests to the hosts in the settings. Redirects are not followed. */
@Injectable()
export class DriveHttp {
  constructor(
    private readonly http: OperatorHttp,
    private readonly clock: Clock,
  ) {}

  /** @throws DriveFailure where there is no response; the reason of the request's signal */
  async request(url: string, request: Omit<EgressRequest, 'purpose' | 'redirects'>): Promise<DriveResponse> {
    try {
      const sent = { ...request, purpose: 'drive', redirects: 'none' } as const;
      const { status, headers, body } = await this.http.request(url, sent);
      const pauseMs = retryAfterMs(headers['retry-after'], this.clock.now()) ?? undefined;
      return { status, body: await body.buffer(), retryAfterMs: pauseMs };
    } catch (error) {
      throw toFailure(error);
    }
  }
}

/** @throws DriveFailure `answer` */
export function readJson<Schema extends z.ZodType>(schema: Schema, body: Buffer): z.output<Schema> {
  const data = parseJson(schema, body);
  if (data === undefined) throw new DriveFailure('answer', 'The response of the drive does not match its API.');
  return data;
}

/** @returns undefined if the body is not JSON or does not match */
export function parseJson<Schema extends z.ZodType>(schema: Schema, body: Buffer): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

function toFailure(error: unknown): unknown {
  if (!(error instanceof EgressFailed || error instanceof EgressRefused)) return error;
  const { reason, detail } = error;
  if (reason === 'too_large') return new DriveFailure('too_large', 'The file is larger than accepted.', { detail });
  if (reason === 'timeout') return new DriveFailure('unreachable', 'The drive did not answer in time.', { detail });
  return new DriveFailure('unreachable', 'The drive cannot be reached.', { detail });
}
