/**
 * A separate process: a site of articles of about 30 KB that link to one another (number of pages: first argument), and an embeddings
 * endpoint that answers at once (size of vectors: second argument). It makes its pages in advance, because it shares the machine with the
 * measured service.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './ipc.ts';

const DIMENSIONS = Number(process.argv[3] ?? '256');
const SECTIONS = 6;
const SENTENCES = 12;
const LINKS = 12;
const WORDS = (
  'harbour pilot tide berth crane cargo manifest customs ferry anchor vessel captain channel buoy quay dredger tug mooring ' +
  'schedule arrival departure container warehouse inspection clearance permit tariff invoice insurance weather forecast storm'
).split(' ');

const count = Number(process.argv[2]);

/** Always the same pages, all different. */
function words(seed: number, length: number): string {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  const next = (): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return `${WORDS[state % WORDS.length] ?? ''}${state % 7 === 0 ? String(state % 997) : ''}`;
  };
  return Array.from({ length }, next).join(' ');
}

/** The root is one of the pages, because an additional page would exceed the budget of an organization. */
function pathOf(index: number): string {
  return index === 0 ? '/' : `/page/${index}`;
}

function page(index: number): Buffer {
  const links = Array.from({ length: LINKS }, (_, step) => (index * LINKS + step + 1) % count);
  const navigation = `<nav><ul>${links.map((to) => `<li><a href="${pathOf(to)}">Page ${to}</a></li>`).join('')}</ul></nav>`;
  const sections = Array.from({ length: SECTIONS }, (_, section) => {
    const sentences = Array.from({ length: SENTENCES }, (_, at) => `${words(index * 1_000 + section * 50 + at, 14)}.`);
    return `<h2>${words(index * 10 + section, 4)}</h2><p>${sentences.join(' ')}</p><p>${sentences.reverse().join(' ')}</p>`;
  });
  const decoration = `<script>${'var decoration = 0;'.repeat(400)}</script>`;
  return Buffer.from(
    `<!doctype html><html lang="en"><head><title>Page ${index}</title>${decoration}</head><body>${navigation}` +
      `<main><article><h1>Page ${index}</h1>${sections.join('')}</article></main><footer>Imprint</footer></body></html>`,
  );
}

const pages = Array.from({ length: count }, (_, index) => page(index));

function vector(text: string): number[] {
  const values = new Array<number>(DIMENSIONS).fill(0);
  for (let at = 0; at < text.length; at += 1) {
    const slot = (text.charCodeAt(at) * 31 + at) % DIMENSIONS;
    values[slot] = (values[slot] ?? 0) + 0.01;
  }
  return values;
}

async function embed(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { input, model } = JSON.parse(Buffer.concat(parts).toString('utf8')) as {
    input: string | string[];
    model: string;
  };
  const data = [input].flat().map((text, index) => ({ object: 'embedding', index, embedding: vector(text) }));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ object: 'list', model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
}

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (request.method === 'POST') {
    void embed(request, response);
    return;
  }
  const body = path === '/' ? pages[0] : pages[Number(/^\/page\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)];
  response.writeHead(body ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
  response.end(body ?? 'There is no such page.');
});

server.listen(0, '127.0.0.1', () => {
  announce({ port: (server.address() as AddressInfo).port, pid: process.pid });
});
