import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from './until.js';

/** A server of another maker that a test starts for itself, and stops. */
export class ServerProgram {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  /** Resolves once the program accepts connections at the port. @throws Error with what it wrote if it ends before */
  static async start(port: number, command: string, ...options: readonly string[]): Promise<ServerProgram> {
    const child = spawn(command, options, { stdio: ['ignore', 'pipe', 'pipe'] });
    let written = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (written += String(chunk)));
    await once(child, 'spawn');
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${command} ended:\n${written}`);
      return accepts(port);
    }, `${command} accepts connections`);
    return new ServerProgram(child, port);
  }

  /** The program keeps its connections, and does not answer until the test lets it go on. */
  pause(isPaused: boolean): void {
    this.child.kill(isPaused ? 'SIGSTOP' : 'SIGCONT');
  }

  /** As `kill -9` does, unless another signal is given. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
