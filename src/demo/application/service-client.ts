import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';

/** The service's own interface, asked as any customer's server asks it, without the network between. */
@Injectable()
export class ServiceClient {
  constructor(private readonly host: HttpAdapterHost) {}

  /** @throws DomainError with the message of an answer that is no success */
  async ask<Body>(key: string, method: 'GET' | 'POST' | 'PUT' | 'PATCH', url: string, body?: object): Promise<Body> {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fastify.inject({ method, url, headers, ...(body ? { payload: JSON.stringify(body) } : {}) });
    const json = answer.json<Body & { message?: string }>();
    if (answer.statusCode < 300) return json;
    throw new DomainError('bad_gateway', `The demo's own request was refused: ${json.message ?? String(answer.statusCode)}`);
  }
}
