import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './lasting-port.js';
import { ServerProgram } from './server-program.js';

/** The program of Debian's package; another one by `PGBOUNCER`. */
const PROGRAM = process.env['PGBOUNCER'] ?? '/usr/sbin/pgbouncer';

/** PgBouncer before a server, with few connections to each of its databases. */
export class PgBouncer {
  private constructor(
    private readonly program: ServerProgram,
    private readonly folder: string,
    private readonly server: URL,
  ) {}

  static async start(
    serverUrl: string,
    connections: number,
    mode: 'transaction' | 'session' = 'transaction',
  ): Promise<PgBouncer> {
    const server = new URL(serverUrl);
    const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
    const port = await freePort();
    const user = `user=${decodeURIComponent(server.username)}${server.password && ` password=${decodeURIComponent(server.password)}`}`;
    const settings = [
      '[databases]',
      `* = host=${server.hostname} port=${server.port || '5432'} ${user}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `pool_mode = ${mode}`,
      `default_pool_size = ${connections}`,
    ];
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, settings.join('\n'));
    // It refuses to run as root.
    for (const path of [folder, file]) chmodSync(path, 0o755);
    const asNobody = ['-u', 'nobody', '--', PROGRAM, file];
    const program =
      process.getuid?.() === 0
        ? await ServerProgram.start(port, 'runuser', ...asNobody)
        : await ServerProgram.start(port, PROGRAM, file);
    return new PgBouncer(program, folder, server);
  }

  /** Where the pooler is, for the server's database of this URL. */
  to(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String(this.program.port);
    url.username = this.server.username;
    return url.href;
  }

  async stop(): Promise<void> {
    // `runuser` passes this signal on.
    await this.program.stop('SIGTERM');
    rmSync(this.folder, { recursive: true });
  }
}
