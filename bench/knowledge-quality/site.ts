import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CorpusFile } from './corpus.ts';
import type { StandInModel } from './stand-in-model.ts';

export interface Listening {
  readonly address: string;
  close(): void;
}

/** Serves the pages of one package as a site. Its root links to all of them and is not indexed. */
export function serveSite(files: readonly CorpusFile[]): Promise<Listening> {
  const pages = new Map(files.map(({ name, content }) => [`/${name}`, content]));
  const links = files.map(({ name }) => `<a href="/${name}">${name}</a>`).join('\n');
  const root = `<!doctype html><html><head><title>Pages</title><meta name="robots" content="noindex"></head><body>${links}</body></html>`;
  return listen((request, response) => {
    const path = decodeURI(request.url ?? '/');
    const body = path === '/' ? root : pages.get(path);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(body ?? 'There is no such page.');
  });
}

/** An embeddings endpoint in OpenAI's protocol. */
export function serveModel(model: StandInModel): Promise<Listening> {
  return listen((request, response) => {
    void embed(model, request, response);
  });
}

async function embed(model: StandInModel, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as {
    readonly input: string | string[];
    readonly model: string;
  };
  const data = [body.input]
    .flat()
    .map((text, index) => ({ object: 'embedding', index, embedding: model.vectorOf(text) }));
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({ object: 'list', model: body.model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
  );
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Listening> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
