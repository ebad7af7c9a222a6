import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';

/** The service refused what the demo asked of it. */
export class ServiceRefusal extends DomainError {
  /**
   * @param status of the answer
   * @param reason `error` of its body
   */
  constructor(
    readonly status: number,
    readonly reason: string | undefined,
    message: string,
  ) {
    super('bad_gateway', `The demo's own request was refused: ${message}`);
  }
}

/** The service's own interface, asked as any customer's server asks it, without the network between. */
@Injectable()
export class ServiceClient {
  constructor(private readonly host: HttpAdapterHost) {}

  /** @throws ServiceRefusal for an answer that is no success */
  async ask<Body>(key: string, method: 'GET' | 'POST' | 'PUT' | 'PATCH', url: string, body?: object): Promise<Body> {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fastify.inject({ method, url, headers, ...(body ? { payload: JSON.stringify(body) } : {}) });
    const json = answer.json<Body & { error?: string; message?: string }>();
    if (answer.statusCode < 300) return json;
    throw new ServiceRefusal(answer.statusCode, json.error, json.message ?? String(answer.statusCode));
  }
}
