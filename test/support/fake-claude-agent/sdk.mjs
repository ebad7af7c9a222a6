// Replaces the package in the tests of faults: the part that the service uses, with processes that have faults.
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./process.mjs', import.meta.url));

/** The faults of the next processes, one each; later processes have none. */
export const faults = [];
/** The fault of each started process. */
export const started = [];
/** The number of processes that hang. */
export const hanging = { count: 0 };

export function tool(name, _description, _schema, handler) {
  return { name, handler };
}

export function createSdkMcpServer(server) {
  return server;
}

export function query({ prompt, options }) {
  const fault = faults.shift() ?? 'none';
  started.push(fault);
  const child = options.spawnClaudeCodeProcess({ command: process.execPath, args: [PROGRAM, fault], env: options.env });
  const [{ tools }] = Object.values(options.mcpServers);
  const write = (said) => child.stdin.write(`${JSON.stringify(said)}\n`);

  async function pass() {
    for await (const { message } of prompt) write({ prompt: message.content });
  }

  async function make(id) {
    await tools[0].handler({}, { _meta: { 'claudecode/toolUseId': id } });
    write({ made: id });
  }

  async function* messages() {
    for await (const line of createInterface({ input: child.stdout })) {
      const said = JSON.parse(line);
      if (said.note) hanging.count += 1;
      else if (said.call) void make(said.call);
      else yield said;
    }
  }

  void pass();
  return {
    [Symbol.asyncIterator]: messages,
    close: () => child.kill(),
  };
}
