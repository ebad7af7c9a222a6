/**
 * A separate process: the minimum that a server must do for a run. It authenticates, stores the message, passes on the provider's
 * response and stores the reply, without agents, limits, history, runs, events and traces.
 */
import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import { Pool as Connections } from 'pg';
import { Pool as Upstream } from 'undici';
import { announce } from './ipc.ts';

interface RunRequest {
  readonly Params: { readonly threadId: string };
  readonly Body: { readonly message: { readonly content: string } };
}

const [databaseUrl = '', upstreamOrigin = '', poolSize = ''] = process.argv.slice(2);
const database = new Connections({ connectionString: databaseUrl, max: Number(poolSize) });
const upstream = new Upstream(upstreamOrigin, { connections: null });

await database.query(`
  create table api_keys (id bigint generated always as identity primary key, digest bytea not null unique);
  create table messages (
    id bigint generated always as identity primary key,
    thread_id uuid not null,
    role text not null,
    content text not null,
    created_at timestamptz not null default now()
  );
  create index messages_by_thread on messages (thread_id, id);
`);

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

async function authenticate(authorization: string | undefined): Promise<boolean> {
  const key = authorization?.replace('Bearer ', '') ?? '';
  const found = await database.query('select id from api_keys where digest = $1', [digestOf(key)]);
  return found.rowCount === 1;
}

async function store(threadId: string, role: 'user' | 'assistant', content: string): Promise<void> {
  await database.query('insert into messages (thread_id, role, content) values ($1, $2, $3)', [
    threadId,
    role,
    content,
  ]);
}

async function askUpstream(content: string): Promise<AsyncIterable<Buffer>> {
  const answer = await upstream.request({
    path: '/v1/messages',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench', max_tokens: 1024, stream: true, messages: [{ role: 'user', content }] }),
  });
  if (answer.statusCode !== 200) throw new Error(`The upstream answered ${answer.statusCode}`);
  return answer.body as AsyncIterable<Buffer>;
}

/** The text of a complete response. */
function textOf(events: string): string {
  let text = '';
  for (const line of events.split('\n')) {
    if (!line.startsWith('data: {"type":"content_block_delta"')) continue;
    const event = JSON.parse(line.slice('data: '.length)) as { readonly delta: { readonly text: string } };
    text += event.delta.text;
  }
  return text;
}

const app = Fastify({ logger: false });

app.addHook<RunRequest>('onRequest', async (request, reply) => {
  if (!(await authenticate(request.headers.authorization))) return reply.code(401).send({ error: 'unauthorized' });
});

app.post<RunRequest>('/v1/threads/:threadId/runs', async (request) => {
  const { threadId } = request.params;
  await store(threadId, 'user', request.body.message.content);
  let events = '';
  for await (const chunk of await askUpstream(request.body.message.content)) events += chunk.toString();
  const text = textOf(events);
  await store(threadId, 'assistant', text);
  return { message: { role: 'assistant', content: text } };
});

app.post<RunRequest>('/v1/threads/:threadId/runs/stream', async (request, reply) => {
  const { threadId } = request.params;
  await store(threadId, 'user', request.body.message.content);
  const answer = await askUpstream(request.body.message.content);
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
  let events = '';
  for await (const chunk of answer) {
    reply.raw.write(chunk);
    events += chunk.toString();
  }
  await store(threadId, 'assistant', textOf(events));
  reply.raw.end();
});

const key = process.env['BARE_KEY'] ?? '';
await database.query('insert into api_keys (digest) values ($1)', [digestOf(key)]);
const address = await app.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
announce({ port: Number(new URL(address).port), pid: process.pid });
