import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { vectorOf } from '../../support/embedding-server.js';
import { inMemory, preparedCluster } from '../../support/prepared-cluster.js';
import { schemas } from '../../../src/schemas.js';
import { SystemClock } from '../../../src/platform/clock/index.js';
import { readSettings, type Settings } from '../../../src/platform/config/index.js';
import { openDatabase, type OpenDatabase } from '../../../src/platform/database/index.js';
import { openPglite } from '../../../src/platform/database/embedded-database.js';
import { newId } from '../../../src/platform/ids/index.js';
import { EmbeddingModelRepository } from '../../../src/knowledge/index/persistence/embedding-model.repository.js';
import { VectorRepository } from '../../../src/knowledge/index/persistence/vector.repository.js';
import { VectorTable } from '../../../src/knowledge/index/persistence/vector-table.js';

/* The adapter for database servers, over PostgreSQL's protocol, with a database that has the extension. */

/** Uses the HNSW index if an agent has more than two chunks. */
class IndexOfFew extends VectorRepository {
  protected override readonly exactChunks: number = 2;
}

const clock = new SystemClock();
let served: OpenDatabase;
let socket: PGLiteSocketServer;
let open: OpenDatabase;
let settings: Settings;

beforeAll(async () => {
  served = await openPglite(inMemory(await preparedCluster(schemas)), schemas);
  if (served.native.kind !== 'embedded') throw new Error('not embedded');
  socket = new PGLiteSocketServer({ db: served.native.pglite, port: 0, maxConnections: 10 });
  const listening = new Promise<{ port: number }>((resolve) => {
    socket.addEventListener('listening', (event) => resolve((event as CustomEvent<{ port: number }>).detail));
  });
  await socket.start();
  const { port } = await listening;
  settings = readSettings(
    {
      DATABASE_URL: `postgresql://postgres:postgres@127.0.0.1:${String(port)}/postgres`,
      DATABASE_POOL: '2',
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    },
    { role: 'all', demo: false },
  );
  open = await openDatabase(settings, schemas);
});
afterAll(async () => {
  await open.close();
  await socket.stop();
  await served.close();
});

async function chunksOf(
  organizationId: string,
  agentId: string,
  texts: readonly string[],
  scope: object | null = null,
): Promise<string[]> {
  const documentId = newId();
  await open.database.query(
    `insert into knowledge_documents (id, organization_id, agent_id, kind, key, key_digest, title, url, scope, digest, revision, chunks, bytes, created_at, updated_at)
     values ($1::uuid, $2::uuid, $3::uuid, 'upload', $1::uuid::text, decode(md5($1::uuid::text), 'hex'), 't', null, $4::text::jsonb, '\\x00', 1, $5::integer, 1, now(), now())`,
    [documentId, organizationId, agentId, scope === null ? null : JSON.stringify(scope), texts.length],
  );
  const ids: string[] = [];
  for (const [position, text] of texts.entries()) {
    const id = newId();
    ids.push(id);
    await open.database.query(
      `insert into knowledge_chunks (id, organization_id, agent_id, document_id, position, text, digest, valid_from)
       values ($1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::integer, $6::text, decode(md5($6::text), 'hex'), 1)`,
      [id, organizationId, agentId, documentId, position, text],
    );
  }
  return ids;
}

async function organization(): Promise<string> {
  const id = newId();
  await open.database.query(
    "insert into organizations (id, name, plan, features, created_at) values ($1::uuid, 'o', 'free', '{}', now())",
    [id],
  );
  return id;
}

async function embed(organizationId: string, modelId: number, ids: readonly string[], size: number): Promise<void> {
  const vectors = new VectorRepository(open.database, settings);
  const chunks = await vectors.readTexts(organizationId, ids);
  await vectors.store(
    organizationId,
    modelId,
    chunks.map(({ id, digest, text }) => ({ chunkId: id, digest, vector: vectorOf(text, size) })),
  );
}

describe('vectors on a database server', () => {
  // One after the other, because connections to this server share one session with its prepared statements.
  it('get their table once, even if another process has created it', async () => {
    expect(await new VectorTable(open.database).create()).toBeUndefined();
    expect(await new VectorTable(open.database).create()).toBeUndefined();
  });

  it.each([1_000, 2_500, 4_200])('of %d numbers are found, by comparing all or through the index', async (size) => {
    const models = new EmbeddingModelRepository(open.database, clock);
    await open.database.transaction((transaction) =>
      models.add(transaction, { name: `m-${String(size)}`, dimensions: size, state: 'retired' }),
    );
    const [model] = await models.list();
    if (!model) throw new Error('no model');
    const index = new IndexOfFew(open.database, settings);
    await index.createIndex(model.id, size);
    await index.createIndex(model.id, size);
    const [organizationId, other] = [await organization(), await organization()];
    const [many, few] = [newId(), newId()];
    const words = ['red car', 'blue doctor', 'green holiday', 'white invoice', 'black canteen'];
    const ids = await chunksOf(organizationId, many, words);
    const hidden = await chunksOf(organizationId, many, ['secret automobile'], { team: 'red' });
    const theirs = await chunksOf(other, few, ['automobile']);
    const crowd = await chunksOf(
      organizationId,
      many,
      Array.from({ length: 30 }, (_, index) => `vehicle physician vacation ${String(index)}`),
      { team: 'blue' },
    );
    await embed(organizationId, model.id, [...ids, ...hidden, ...crowd], size);
    await embed(other, model.id, theirs, size);
    const scope = { organizationId, agentId: many, userContext: null };
    const query = vectorOf('vehicle vehicle physician vacation vacation vacation', size);
    const found = await index.nearest(scope, model.id, query, 3);
    expect([...found].sort()).toEqual(ids.slice(0, 3));
    expect(await new VectorRepository(open.database, settings).nearest(scope, model.id, query, 3)).toEqual(found);
    expect(await index.nearest({ ...scope, userContext: { team: 'red' } }, model.id, query, 10)).toEqual(
      expect.arrayContaining([...hidden, ...ids]),
    );
    expect(
      await index.nearest({ organizationId: other, agentId: few, userContext: null }, model.id, query, 10),
    ).toEqual(theirs);
  });
});
