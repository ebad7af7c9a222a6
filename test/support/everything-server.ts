import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';

const ENTRY = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const READY = /listening on port|running on port/;
const READY_WITHIN_MS = 30_000;
const TRIES = 3;

const PATHS = { streamableHttp: '/mcp', sse: '/sse' } as const;

export interface EverythingServer {
  /** Where its MCP endpoint is. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Starts the reference server of the protocol as a process of its own. With `port` it takes that one, as a server that is
 * started again does.
 */
export async function startEverything(
  transport: keyof typeof PATHS,
  { port }: { readonly port?: number } = {},
): Promise<EverythingServer> {
  for (let tries = 1; ; tries += 1) {
    const chosen = port ?? (await freePort());
    const child = spawn(process.execPath, [ENTRY, transport], {
      env: { PATH: process.env['PATH'] ?? '', PORT: String(chosen) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      await ready(child);
      return { url: `http://127.0.0.1:${chosen}${PATHS[transport]}`, port: chosen, close: () => end(child) };
    } catch (error) {
      await end(child);
      // Another process may have taken the port since it was found free.
      if (port !== undefined || tries === TRIES) throw error;
    }
  }
}

async function ready(child: ChildProcess): Promise<void> {
  let output = '';
  await new Promise<void>((started, failed) => {
    const giveUp = setTimeout(() => failed(new Error(`The server was not ready in time:\n${output}`)), READY_WITHIN_MS);
    const look = (chunk: Buffer): void => {
      // Afterwards the output is still read: a full pipe would stop the server.
      if (output.length < 10_000) output += chunk.toString();
      if (!READY.test(output)) return;
      clearTimeout(giveUp);
      started();
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('exit', () => {
      clearTimeout(giveUp);
      failed(new Error(`The server ended while it started:\n${output}`));
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Below those that systems give to whoever wants any, so that none takes it while a server is away. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, () => resolve(true));
    });
    if (!(await isFree)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
