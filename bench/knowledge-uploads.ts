/** Measures time and memory to upload and parse many files of an agent at once. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { round, sum } from './figures.ts';
import type { WriteLine } from './passes.ts';
import type { UploadPlan } from './plan.ts';
import type { Environment, Service } from './processes.ts';
import { createKey, post } from './provision.ts';
import { residentMiB } from './samples.ts';
import type { Stage } from './stage.ts';
import { table } from './table.ts';

export interface UploadFigures {
  readonly mode: 'postgres' | 'embedded';
  readonly uploads: number;
  readonly uploadedMiB: number;
  /** Until the last upload has returned `201`. */
  readonly acceptedSeconds: number;
  /** Until all files are processed. */
  readonly settledSeconds: number;
  /** Resident memory of the service before, and its peak after that. */
  readonly residentMiB: number;
  readonly peakMiB: number;
  /** Peak of the sum of all its children. */
  readonly peakOfChildrenMiB: number;
}

const POLL_MS = 500;
const GIVE_UP_MS = 15 * 60_000;

const WORDS =
  'harbour lantern meadow copper violin orchard granite ledger falcon saddle timber glacier pepper anchor canvas'.split(
    ' ',
  );

interface BenchFile {
  readonly name: string;
  readonly type: string;
  readonly content: string;
}

/** Sentences that are in no other file. */
function prose(seed: number, sentences: number): string {
  const word = (at: number): string => WORDS[(seed * 31 + at * 17 + at * at) % WORDS.length] ?? '';
  return Array.from(
    { length: sentences },
    (_, at) => `The ${word(at)} of ${seed} meets the ${word(at + 3)} near ${word(at + 7)} number ${at}.`,
  ).join(' ');
}

const KINDS: readonly ((seed: number, text: string) => BenchFile)[] = [
  (seed, text) => ({ name: `notes-${seed}.txt`, type: 'text/plain', content: text }),
  (seed, text) => ({
    name: `guide-${seed}.md`,
    type: 'text/markdown',
    content: `# Guide ${seed}\n\n## Part\n\n${text}\n`,
  }),
  (seed, text) => ({
    name: `page-${seed}.html`,
    type: 'text/html',
    content: `<!doctype html><html><head><title>Page ${seed}</title></head><body><h1>Page ${seed}</h1><p>${text}</p></body></html>`,
  }),
  (seed, text) => ({
    name: `table-${seed}.csv`,
    type: 'text/csv',
    content: `number,sentence\n${text
      .split('. ')
      .map((line, at) => `${at},${line}`)
      .join('\n')}\n`,
  }),
  (seed, text) => ({
    name: `data-${seed}.json`,
    type: 'application/json',
    content: JSON.stringify({ seed, sentences: text.split('. ') }),
  }),
];

/** Most files have about 10 KiB; one in fifty has a megabyte. */
function fileOf(seed: number): BenchFile {
  const kind = KINDS[seed % KINDS.length] ?? KINDS[0];
  if (!kind) throw new Error('There are no kinds of files');
  return kind(seed, prose(seed, seed % 50 === 0 ? 16_000 : 150));
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

function memoryOfChildren(pid: number): number {
  return childrenOf(pid).reduce((total, child) => {
    try {
      return total + residentMiB(child);
    } catch {
      return total;
    }
  }, 0);
}

/** Resets the peak, which includes the start. */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The peak that Linux records, which samples could miss. */
function peakMiB(pid: number): number {
  const kib = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

interface Listed {
  readonly files: readonly { readonly status: string; readonly name: string; readonly error: string | null }[];
}

/** One process that does everything. */
async function startOne(
  stage: Stage,
  embedded: boolean,
): Promise<{ readonly service: Service; readonly env: Environment }> {
  if (!embedded) {
    const { REDIS_URL: _url, REDIS_PREFIX: _prefix, ...env } = (await stage.clusteredEnvironment()).env;
    const whole = { ...env, DATA_DIR: stage.makeFolder() };
    return { service: await stage.processes.startService('all', whole, []), env: whole };
  }
  const env = stage.embeddedEnvironment();
  // The first start makes the database, and needs more memory than the next one.
  await (await stage.startEmbedded(env)).stop();
  return { service: (await stage.startEmbedded(env)).service, env };
}

/** Measures both modes, each in one process that receives, stores and parses the files. */
export async function runUploads(stage: Stage, plan: UploadPlan, writeLine: WriteLine): Promise<UploadFigures[]> {
  const figures = [await measureUploads(stage, 'postgres', plan.uploads, writeLine)];
  return plan.embedded ? [...figures, await measureUploads(stage, 'embedded', plan.uploads, writeLine)] : figures;
}

/** @throws Error if an upload is refused, or a file cannot be parsed */
async function measureUploads(
  stage: Stage,
  mode: UploadFigures['mode'],
  uploads: number,
  writeLine: WriteLine,
): Promise<UploadFigures> {
  const { service, env } = await startOne(stage, mode === 'embedded');
  const { origin, pid } = service;
  const key = await createKey(env);
  const agentId = await post(origin, key, '/v1/agents', { name: 'Bench', provider: { type: 'anthropic' } });
  const url = `${origin}/v1/agents/${agentId}/knowledge-bases/uploaded-files`;
  const headers = { authorization: `Bearer ${key}` };
  forgetPeak(pid);
  const before = residentMiB(pid);
  let peakOfChildren = 0;
  const watching = setInterval(() => (peakOfChildren = Math.max(peakOfChildren, memoryOfChildren(pid))), POLL_MS / 5);
  try {
    writeLine(`uploads, ${mode}: ${uploads} at once`);
    const began = performance.now();
    const bytes = await uploadAll(url, headers, uploads);
    const acceptedSeconds = (performance.now() - began) / 1000;
    await allRead(url, headers, began);
    return {
      mode,
      uploads,
      uploadedMiB: round(bytes / 1024 / 1024, 1),
      acceptedSeconds: round(acceptedSeconds, 1),
      settledSeconds: round((performance.now() - began) / 1000, 1),
      residentMiB: round(before, 0),
      peakMiB: round(peakMiB(pid), 0),
      peakOfChildrenMiB: round(peakOfChildren, 0),
    };
  } finally {
    clearInterval(watching);
    await service.stop();
  }
}

/** @returns the sum of their sizes */
async function uploadAll(url: string, headers: Readonly<Record<string, string>>, uploads: number): Promise<number> {
  const sizes = await Promise.all(
    Array.from({ length: uploads }, async (_, seed) => {
      const { name, type, content } = fileOf(seed);
      const body = new FormData();
      body.set('file', new File([content], name, { type }));
      const answer = await fetch(url, { method: 'POST', headers, body });
      if (answer.status !== 201) throw new Error(`An upload answered ${answer.status}: ${await answer.text()}`);
      await answer.body?.cancel();
      return Buffer.byteLength(content);
    }),
  );
  return sum(sizes);
}

async function allRead(url: string, headers: Readonly<Record<string, string>>, began: number): Promise<void> {
  for (;;) {
    const { files } = (await (await fetch(url, { headers })).json()) as Listed;
    const failed = files.find(({ status }) => status === 'failed');
    if (failed) throw new Error(`${failed.name} could not be parsed: ${failed.error ?? ''}`);
    if (files.every(({ status }) => status === 'ready')) return;
    if (performance.now() - began > GIVE_UP_MS) throw new Error('The files are still being processed');
    await sleep(POLL_MS);
  }
}

export function uploadsText(figures: readonly UploadFigures[]): string {
  return table(
    [
      'Uploads at once',
      'On',
      'MiB',
      'All accepted s',
      'All read s',
      'Resident before MiB',
      'Peak MiB',
      'Parsers at the peak MiB',
    ],
    figures.map((of) => [
      of.uploads,
      of.mode === 'postgres' ? 'PostgreSQL' : 'embedded',
      of.uploadedMiB,
      of.acceptedSeconds,
      of.settledSeconds,
      of.residentMiB,
      of.peakMiB,
      of.peakOfChildrenMiB,
    ]),
  );
}
