/**
 * A separate process: the minimum that a server must do for a run. It authenticates, reads the history, stores the message, passes on
 * the provider's response and stores the reply and the run, without agents, limits, events and traces.
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
  create table runs (
    id bigint generated always as identity primary key,
    thread_id uuid not null,
    output_tokens integer not null,
    created_at timestamptz not null default now()
  );
`);

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

async function authenticate(authorization: string | undefined): Promise<boolean> {
  const key = authorization?.replace('Bearer ', '') ?? '';
  const found = await database.query('select id from api_keys where digest = $1', [digestOf(key)]);
  return found.rowCount === 1;
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The thread's newest messages, oldest first. */
async function historyOf(threadId: string): Promise<Message[]> {
  const { rows } = await database.query<Message>(
    'select role, content from messages where thread_id = $1 order by id desc limit 100',
    [threadId],
  );
  return rows.reverse();
}

async function store(threadId: string, { role, content }: Message): Promise<void> {
  await database.query('insert into messages (thread_id, role, content) values ($1, $2, $3)', [
    threadId,
    role,
    content,
  ]);
}

async function storeReply(threadId: string, { text, outputTokens }: Reply): Promise<void> {
  await store(threadId, { role: 'assistant', content: text });
  await database.query('insert into runs (thread_id, output_tokens) values ($1, $2)', [threadId, outputTokens]);
}

async function askUpstream(messages: readonly Message[]): Promise<AsyncIterable<Buffer>> {
  const answer = await upstream.request({
    path: '/v1/messages',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench', max_tokens: 1024, stream: true, messages }),
  });
  if (answer.statusCode !== 200) throw new Error(`The upstream answered ${answer.statusCode}`);
  return answer.body as AsyncIterable<Buffer>;
}

interface Reply {
  readonly text: string;
  readonly outputTokens: number;
}

/** What a complete response says. */
function replyOf(events: string): Reply {
  let text = '';
  let outputTokens = 0;
  for (const line of events.split('\n')) {
    if (line.startsWith('data: {"type":"content_block_delta"')) {
      const event = JSON.parse(line.slice('data: '.length)) as { readonly delta: { readonly text: string } };
      text += event.delta.text;
    } else if (line.startsWith('data: {"type":"message_delta"')) {
      const event = JSON.parse(line.slice('data: '.length)) as { readonly usage: { readonly output_tokens: number } };
      outputTokens = event.usage.output_tokens;
    }
  }
  return { text, outputTokens };
}

/** Stores the message. @returns what the provider gets: the history and the message */
async function beginRun(threadId: string, content: string): Promise<Message[]> {
  const message = { role: 'user', content } as const;
  const history = await historyOf(threadId);
  await store(threadId, message);
  return [...history, message];
}

const app = Fastify({ logger: false });

app.addHook<RunRequest>('onRequest', async (request, reply) => {
  if (!(await authenticate(request.headers.authorization))) return reply.code(401).send({ error: 'unauthorized' });
});

app.post<RunRequest>('/v1/threads/:threadId/runs', async (request) => {
  const { threadId } = request.params;
  const messages = await beginRun(threadId, request.body.message.content);
  let events = '';
  for await (const chunk of await askUpstream(messages)) events += chunk.toString();
  const reply = replyOf(events);
  await storeReply(threadId, reply);
  return { message: { role: 'assistant', content: reply.text } };
});

app.post<RunRequest>('/v1/threads/:threadId/runs/stream', async (request, reply) => {
  const { threadId } = request.params;
  const answer = await askUpstream(await beginRun(threadId, request.body.message.content));
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
  let events = '';
  for await (const chunk of answer) {
    reply.raw.write(chunk);
    events += chunk.toString();
  }
  await storeReply(threadId, replyOf(events));
  reply.raw.end();
});

const key = process.env['BARE_KEY'] ?? '';
await database.query('insert into api_keys (digest) values ($1)', [digestOf(key)]);
const address = await app.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
announce({ port: Number(new URL(address).port), pid: process.pid });
