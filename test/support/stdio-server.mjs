// A tool server over stdio, without a library so that it starts quickly. The argument names its behaviour.
import { spawn } from 'node:child_process';
import { closeSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setInterval, setTimeout } from 'node:timers';

const behaviour = process.argv[2] ?? 'good';
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (words) => ({ content: [{ type: 'text', text: words }] });
const forever = () => setInterval(() => undefined, 60_000);

/** The tools. One that returns nothing answers later or never. */
const TOOLS = {
  pid: () => text(String(process.pid)),
  environment: () => text(JSON.stringify({ ...process.env, cwd: process.cwd() })),
  /** Leaves a file in its folder: nothing else shows that the call is under way. */
  silent: () => writeFileSync('silent', ''),
  slow: (id) => void setTimeout(() => write({ id, result: text('slow') }), 200),
  crash: () => process.exit(3),
  last_words: (id) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: text('bye') })}\n`, () => process.exit(0)),
  mute: () => closeSync(1),
  large: () => text('x'.repeat(1_048_576)),
  nearly_large: () => text('x'.repeat(1_000_000)),
  endless: () => {
    const chunk = 'x'.repeat(65_536);
    const more = () => {
      while (process.stdout.write(chunk));
    };
    process.stdout.on('drain', more);
    more();
  },
  flood: () => {
    const more = () => {
      while (write({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }));
    };
    process.stdout.on('drain', more);
    more();
  },
  noise: () => {
    process.stdout.write('Loading...\n{"not": "a message"}\n[\n\n');
    return text('quiet');
  },
  memory: () => {
    const kept = [];
    // 1 GiB: too much for who measures it, however late, and not enough for the kernel's own limit.
    setInterval(() => kept.length < 64 && kept.push(Buffer.alloc(16_777_216, 1)), 15);
  },
  forks: () => {
    for (let count = 0; count < 100; count += 1) spawn('sleep', ['60'], { stdio: 'ignore' });
  },
  change: () => {
    for (let count = 0; count < 5; count += 1) write({ method: 'notifications/tools/list_changed' });
    return text('changed');
  },
};

function answer({ id, method, params }) {
  if (method === 'server/discover' && behaviour === 'ends-when-probed') process.exit(1);
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } };
    const serverInfo = { name: 'stdio-server', version: '1' };
    return write({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
  }
  if (method === 'tools/list') {
    return write({
      id,
      result: { tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })) },
    });
  }
  if (method === 'tools/call') {
    const result = TOOLS[params.name]?.(id);
    if (typeof result === 'object') write({ id, result });
    return undefined;
  }
  if (id !== undefined)
    write({ id, error: { code: -32601, message: `No ${method} with ${process.env.KEY ?? 'nothing'}` } });
}

if (behaviour === 'exits') process.exit(1);
if (behaviour === 'silent') forever();
else createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line)));
if (behaviour === 'stubborn') {
  process.on('SIGTERM', () => undefined);
  forever();
}
