import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
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
    const headers = { ...headersOf(key), 'content-type': 'application/json' };
    return bodyOf(
      await fastify.inject({ method, url, headers, ...(body ? { payload: JSON.stringify(body) } : {}) }),
    ) as Body;
  }

  /** Uploads a text file. @throws ServiceRefusal for an answer that is no success */
  async upload(
    key: string,
    url: string,
    { name, text }: { readonly name: string; readonly text: string },
  ): Promise<void> {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const headers = { ...headersOf(key), 'content-type': 'multipart/form-data; boundary=file' };
    const part = `--file\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: text/plain\r\n\r\n${text}\r\n--file--\r\n`;
    bodyOf(await fastify.inject({ method: 'POST', url, headers, payload: part }));
  }
}

interface Refused {
  readonly error?: string;
  readonly message?: string;
}

function headersOf(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}`, 'x-request-id': 'demo' };
}

/** @throws ServiceRefusal for an answer that is no success */
function bodyOf(answer: LightMyRequestResponse): object {
  const json = answer.json<Refused>();
  if (answer.statusCode < 300) return json;
  throw new ServiceRefusal(answer.statusCode, json.error, json.message ?? String(answer.statusCode));
}
