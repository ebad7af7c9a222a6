import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface RunningServer {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}

type ServerClass = new (options: object) => RunningServer;

/** The only access key of the server. */
export const S3_CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** A server that speaks the API of S3, with one bucket. */
export class S3Server {
  private constructor(
    private readonly server: RunningServer,
    private readonly folder: string,
    readonly endpoint: string,
    readonly bucket: string,
  ) {}

  static async start(bucket = 'files'): Promise<S3Server> {
    const S3rver = createRequire(import.meta.url)('s3rver') as ServerClass;
    const folder = mkdtempSync(join(tmpdir(), 's3-'));
    const options = { port: 0, address: '127.0.0.1', silent: true, directory: folder };
    const server = new S3rver({ ...options, configureBuckets: [{ name: bucket }] });
    const { port } = await server.run();
    return new S3Server(server, folder, `http://127.0.0.1:${port}`, bucket);
  }

  /** The settings that lead a service here. */
  get environment(): Record<string, string> {
    return {
      FILES_S3_ENDPOINT: this.endpoint,
      FILES_S3_BUCKET: this.bucket,
      FILES_S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      FILES_S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    };
  }

  async close(): Promise<void> {
    await this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
