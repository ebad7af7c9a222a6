import { createHash } from 'node:crypto';
import type { TestService } from '../support/harness.js';
import { loadWidgetServer } from '../support/widget-server.js';
import { PageServer } from './page-server.js';
import { SHOP_CONTENT, SHOP_STYLE } from './shop-page.js';

interface ShopOptions {
  readonly key: string;
  readonly agentId: string;
  /** Of the element. */
  readonly attributes: string;
}

const STYLE_HASH = createHash('sha256').update(SHOP_STYLE).digest('base64');

/** A customer's shop on its own origin, whose server is the handler that the widget's package ships. */
export class ShopSite extends PageServer {
  static async start({ baseUrl }: TestService, options: ShopOptions): Promise<ShopSite> {
    const { key: apiKey, agentId: assistantId } = options;
    const threads: string[] = [];
    const { createWidgetHandler, toNodeHandler } = await loadWidgetServer();
    const chat = toNodeHandler(
      createWidgetHandler({
        ...{ serviceUrl: baseUrl, apiKey, assistantId, basePath: '/chat' },
        visitor: () => ({ id: 'visitor-1' }),
        conversations: {
          list: async () => threads.map((threadId) => ({ threadId })),
          add: async (_visitor, threadId) => void threads.unshift(threadId),
        },
      }),
    );
    const site = new ShopSite();
    site.server.on('request', (request, response) => {
      if (request.url?.startsWith('/chat/')) {
        void chat(request, response);
        return;
      }
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy(baseUrl) })
        .end(page(baseUrl, options));
    });
    return site.listen();
  }
}

function policy(service: string): string {
  return `default-src 'none'; script-src ${service}; style-src 'sha256-${STYLE_HASH}'; connect-src 'self' ${service}; img-src https:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;
}

function page(service: string, { attributes, agentId }: ShopOptions): string {
  const mode = attributes.includes('mode="proxy"')
    ? `base-url="/chat" assistant-id="${agentId}"`
    : 'session-endpoint="/chat/session" reaction-endpoint="/chat/reaction" history-endpoint="/chat/conversations"';
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Fernweg</title>
<style>${SHOP_STYLE}</style><script type="module" src="${service}/widget.js"></script></head>
<body>${SHOP_CONTENT}<agent-chat ${mode} ${attributes}></agent-chat></body></html>`;
}
