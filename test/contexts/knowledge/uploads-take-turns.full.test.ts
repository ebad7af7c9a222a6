import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CheckUploadsProcessor } from '../../../src/knowledge/uploads/jobs/check-uploads.job.js';
import { DocumentParser } from '../../../src/knowledge/parsing/application/document-parser.js';
import { UploadRepository } from '../../../src/knowledge/uploads/persistence/upload.repository.js';
import { until, useService } from '../../support/harness.js';
import { hurryParsers } from '../../support/hurried-parsers.js';
import { activeJob } from '../../support/job-site.js';
import {
  addFile,
  type FileToUpload,
  filesPath,
  type KnowledgeFile,
  learn,
  listFiles,
  type Owner,
  settledFiles,
} from '../../support/knowledge.js';
import { nestedFormsPdf } from '../../support/nested-forms-pdf.js';
import { pdfOf } from '../../support/pdf-writer.js';
import { ShiftedClock } from '../../support/shifted-clock.js';

/** Its page takes some time to parse. */
const SLOW: FileToUpload = {
  content: pdfOf([[{ text: 'slow', y: 1 }]], { stream: 'q\n'.repeat(4_000) }),
  name: 'slow.pdf',
  contentType: 'application/pdf',
};
const HOUR_MS = 3_600_000;

const clock = new ShiftedClock();
const service = useService({ clock });
let [many, other]: Owner[] = [];
beforeEach(async () => {
  [many, other] = [await owner(), await owner()];
});

async function owner(): Promise<Owner> {
  const { key } = await service.organization();
  return { key, agentId: await service.agent(key) };
}

/** Functions that end the parses that are held. */
const held: (() => void)[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  releaseParses();
});

/** Holds each parse until `releaseParses` fails it. A file that still exists is then parsed again. */
function holdParses(): void {
  jest
    .spyOn(service.app.get(DocumentParser, { strict: false }), 'parse')
    .mockImplementation(() => new Promise((_, reject) => held.push(() => reject(new Error('unavailable')))));
}

/** Without this they would use the slots of the next test's files, and the service would wait for them when it stops. */
function releaseParses(): void {
  for (const release of held.splice(0)) release();
}

const processing = async (whose: Owner): Promise<readonly KnowledgeFile[]> =>
  (await listFiles(service, whose)).filter(({ status }) => status === 'processing');
const check = (): Promise<void> => service.app.get(CheckUploadsProcessor, { strict: false }).process(activeJob({}));

describe('organizations share the parsers fairly', () => {
  it('so that a file is ready long before the slow files that another organization has uploaded before it', async () => {
    for (let count = 0; count < 8; count += 1) await addFile(service, many!, SLOW);
    await learn(service, other!, 'about lions');
    expect((await processing(many!)).length).toBeGreaterThanOrEqual(4);
    expect((await settledFiles(service, many!)).map(({ status }) => status)).toEqual(Array(8).fill('ready'));
  });

  it('even if the parser never returns from the other files', async () => {
    const parser = service.app.get(DocumentParser, { strict: false });
    const original = parser.parse.bind(parser);
    jest.spyOn(parser, 'parse').mockImplementation(async (document, signal) => {
      if (document.name === 'stuck.txt') await new Promise<void>((resolve) => held.push(resolve));
      return original(document, signal);
    });
    for (let count = 0; count < 6; count += 1) await addFile(service, many!, { content: 'x', name: 'stuck.txt' });
    await learn(service, other!, 'about lions', 'about tigers');
    expect([held.length, (await processing(many!)).length]).toEqual([2, 6]);
    jest.restoreAllMocks();
    releaseParses();
    expect((await settledFiles(service, many!)).map(({ status }) => status)).toEqual(Array(6).fill('ready'));
  });
});

describe('small PDFs that take exponential time', () => {
  it('do not delay a small text of another organization or of the same one, and each fails with its reason', async () => {
    // Instead of 10 s: long enough to count as slow, and the texts are ready long before the last PDF fails.
    hurryParsers(2_000, ({ name }) => name === 'hostile.pdf');
    const hostile: FileToUpload = { content: nestedFormsPdf(), name: 'hostile.pdf', contentType: 'application/pdf' };
    const sameOrganization: Owner = { key: many!.key, agentId: await service.agent(many!.key) };
    for (let count = 0; count < 5; count += 1) await addFile(service, many!, hostile);

    await learn(service, other!, 'about lions');
    expect((await processing(many!)).length).toBeGreaterThanOrEqual(4);
    await learn(service, sameOrganization, 'about tigers');
    expect((await processing(many!)).length).toBeGreaterThanOrEqual(3);

    const files = await settledFiles(service, many!);
    expect(files.map(({ status, error }) => [status, error])).toEqual(
      Array(5).fill(['failed', 'Reading the file takes too long: more than 2 seconds.']),
    );
  });
});

describe('the slot of a file', () => {
  it('is given to as many files as slots are free, whatever plan the database uses', async () => {
    holdParses();
    for (let count = 0; count < 6; count += 1) await addFile(service, many!, { content: 'x', name: 'stuck.txt' });
    await until(() => held.length === 2, 'two files to have slots');
    const [row] = await service.database.query<{ id: string }>(
      'select organization_id::text as id from agents where id = $1::uuid',
      [many!.agentId],
    );
    const taken = await service.database.transaction(async (transaction) => {
      // Such a plan computes the subquery again for each row.
      for (const way of ['hashjoin', 'mergejoin', 'material', 'hashagg', 'sort'])
        await transaction.query(`set local enable_${way} = off`);
      return service.app.get(UploadRepository, { strict: false }).takeSlots(transaction, row!.id, 3, clock.now());
    });
    expect(taken).toHaveLength(1);
    // So that they are not parsed again.
    await service.http('DELETE', `/v1/agents/${many!.agentId}`, { key: many!.key });
  });

  it('goes to the next file when the file is deleted, and when it cannot be read', async () => {
    holdParses();
    const first = [await addFile(service, many!, 'one'), await addFile(service, many!, 'two')];
    const third = await addFile(service, many!, 'three');
    await until(() => held.length === 2, 'two of them to be parsed');
    for (const { id } of first) await service.http('DELETE', `${filesPath(many!)}/${id}`, { key: many!.key });
    jest.restoreAllMocks();
    releaseParses();
    expect(await settledFiles(service, many!)).toMatchObject([{ id: third.id, status: 'ready' }]);
  });

  it('is given to another file by the check after its job was lost', async () => {
    const files = [];
    holdParses();
    for (let count = 0; count < 5; count += 1) files.push(await addFile(service, many!, `number ${count}`));
    await until(() => held.length === 2, 'two of them to be parsed');
    jest.restoreAllMocks();
    // As if both jobs were lost with their slots.
    await service.database.query(`update knowledge_uploads set turn = 'over' where turn = 'taken'`);
    clock.moveOn(HOUR_MS);
    await check();
    expect((await settledFiles(service, many!)).map(({ status }) => status)).toEqual(Array(5).fill('ready'));
    expect(files).toHaveLength(5);
  });
});
