import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
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

  /** @throws ServiceRefusal for a response that is not a success */
  async ask<Body>(key: string, method: 'GET' | 'POST' | 'PUT' | 'PATCH', url: string, body?: object): Promise<Body> {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    const headers = { ...headersOf(key), 'content-type': 'application/json' };
    return bodyOf(
      await fastify.inject({ method, url, headers, ...(body ? { payload: JSON.stringify(body) } : {}) }),
    ) as Body;
  }

  /** Uploads a text file. @throws ServiceRefusal for a response that is not a success */
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

/** @throws ServiceRefusal for a response that is not a success */
function bodyOf(answer: LightMyRequestResponse): object {
  const json = answer.json<Refused>();
  if (answer.statusCode < 300) return json;
  throw new ServiceRefusal(answer.statusCode, json.error, json.message ?? String(answer.statusCode));
}
