import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type * as WidgetServer from '../../widget/server/index.js';

/**
 * The module of the widget's package for servers, bundled as the package has it. An import of anything but the web's own
 * interfaces fails here.
 */
export function loadWidgetServer(): Promise<typeof WidgetServer> {
  return load('widget/server/index.ts');
}

/** The widget's client, whose types need those of a browser. */
export interface WidgetClient {
  readonly state: {
    readonly status: string;
    readonly failure: object | null;
    readonly messages: readonly { readonly key: string; readonly role: string; readonly text: string }[];
    readonly suggestions: readonly string[];
  };
  start(): Promise<void>;
  send(text: string, attachments?: readonly object[]): Promise<void>;
  react(key: string, reaction: string): Promise<void>;
  upload(file: File): Promise<{ readonly name: string; readonly url: string; readonly contentType: string }>;
  close(): void;
}

export async function loadWidgetClient(): Promise<(options: object, fetch: typeof globalThis.fetch) => WidgetClient> {
  type Constructor = new (options: object, seams: object) => WidgetClient;
  const { ChatClient } = await load<{ ChatClient: Constructor }>('widget/src/client/chat-client.ts');
  return (options, fetch) =>
    new ChatClient(options, {
      fetch,
      // Node has no XMLHttpRequest, which tells a browser the progress of an upload.
      upload: (url: string, init: RequestInit) => fetch(url, { ...init, method: 'POST' }),
    });
}

async function load<Module>(entryPoint: string): Promise<Module> {
  const folder = mkdtempSync(join(tmpdir(), 'widget-server-'));
  try {
    const outfile = join(folder, 'module.mjs');
    await build({
      ...{ entryPoints: [entryPoint], outfile, bundle: true, format: 'esm', platform: 'neutral' },
      ...{ sourcemap: 'inline', logLevel: 'silent' },
    });
    return (await import(pathToFileURL(outfile).href)) as Module;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A visitor's server on `node:http`, as Express runs it. */
export class NodeSite {
  private constructor(private readonly server: Server) {}

  static async start(listener: Parameters<typeof createServer<typeof IncomingMessage>>[1]): Promise<NodeSite> {
    const site = new NodeSite(createServer(listener));
    site.server.listen(0, '127.0.0.1');
    await once(site.server, 'listening');
    return site;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
