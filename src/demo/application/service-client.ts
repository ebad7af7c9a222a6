import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';

/** The service refused a request of the demo. */
export class ServiceRefusal extends DomainError {
  /**
   * @param status of the response
   * @param reason `error` in its body
   */
  constructor(
    readonly status: number,
    readonly reason: string | undefined,
    message: string,
  ) {
    super('bad_gateway', `The service refused the demo's request: ${message}`);
  }
}

/** Calls the service's interface like a customer's server, but within the process. */
@Injectable()
export class ServiceClient {
  constructor(private readonly host: HttpAdapterHost) {}

  /** @param body JSON, or a form with a file @throws ServiceRefusal for a response that is not a success */
  async ask<Body>(
    key: string,
    method: 'GET' | 'POST' | 'PUT' | 'PATCH',
    url: string,
    body?: object | FormData,
  ): Promise<Body> {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'demo' };
    const answer = await fastify.inject({ method, url, headers, ...(body && { payload: body }) });
    const json = answer.json<{ readonly error?: string; readonly message?: string }>();
    if (answer.statusCode < 300) return json as Body;
    throw new ServiceRefusal(answer.statusCode, json.error, json.message ?? String(answer.statusCode));
  }
}
