import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CatalogueEntry, LocalApp, RemoteApp } from './catalogue-entry.js';

/** Installed servers start no other program, and one shows its environment, which must not reveal this machine's search path. */
const PLAIN_ENVIRONMENT = { PATH: '/usr/bin:/bin' } as const;

/** The project's catalogue. Its remote servers have published addresses and need no client that was registered beforehand. */
export const builtInApps: readonly CatalogueEntry[] = [
  authorized('airtable', 'Airtable', 'https://mcp.airtable.com/mcp'),
  authorized('atlassian', 'Atlassian (Jira, Confluence)', 'https://mcp.atlassian.com/v1/mcp/authv2'),
  authorized('canva', 'Canva', 'https://mcp.canva.com/mcp'),
  authorized('clickup', 'ClickUp', 'https://mcp.clickup.com/mcp'),
  authorized('gitlab', 'GitLab', 'https://gitlab.com/api/v4/mcp'),
  authorized('intercom', 'Intercom', 'https://mcp.intercom.com/mcp'),
  authorized('linear', 'Linear', 'https://mcp.linear.app/mcp'),
  authorized('monday', 'monday.com', 'https://mcp.monday.com/mcp'),
  authorized('neon', 'Neon', 'https://mcp.neon.tech/mcp'),
  authorized('netlify', 'Netlify', 'https://netlify-mcp.netlify.app/mcp'),
  authorized('notion', 'Notion', 'https://mcp.notion.com/mcp'),
  authorized('paypal', 'PayPal', 'https://mcp.paypal.com/mcp'),
  authorized('posthog', 'PostHog', 'https://mcp.posthog.com/mcp'),
  authorized('sentry', 'Sentry', 'https://mcp.sentry.dev/mcp'),

  withKey('github', 'GitHub', 'https://api.githubcopilot.com/mcp/', 'GITHUB_PERSONAL_ACCESS_TOKEN'),
  withKey('hugging-face', 'Hugging Face', 'https://huggingface.co/mcp', 'HF_TOKEN'),
  withKey('stripe', 'Stripe', 'https://mcp.stripe.com', 'STRIPE_API_KEY'),
  {
    ...open('context7', 'Context7', 'https://mcp.context7.com/mcp'),
    headers: { CONTEXT7_API_KEY: '${CONTEXT7_API_KEY}' },
    envNames: ['CONTEXT7_API_KEY'],
  },

  open('aws-knowledge', 'AWS Knowledge', 'https://knowledge-mcp.global.api.aws'),
  open('cloudflare-docs', 'Cloudflare documentation', 'https://docs.mcp.cloudflare.com/mcp'),
  open('deepwiki', 'DeepWiki', 'https://mcp.deepwiki.com/mcp'),
  open('microsoft-learn', 'Microsoft Learn', 'https://learn.microsoft.com/api/mcp'),

  {
    ...installed('everything', 'Everything (demonstration)', '@modelcontextprotocol/server-everything/dist/index.js'),
    // One of its tools fetches any address that a model names. This domain never resolves.
    env: { ...PLAIN_ENVIRONMENT, GZIP_ALLOWED_DOMAINS: 'nowhere.invalid' },
  },
  {
    ...installed('memory', 'Memory (knowledge graph)', '@modelcontextprotocol/server-memory/dist/index.js'),
    stateFile: 'MEMORY_FILE_PATH',
  },
];

/** Needs no credentials. */
function open(slug: string, name: string, url: string): RemoteApp {
  return {
    slug,
    name,
    transport: 'remote',
    url,
    transportType: 'streamableHttp',
    oauth: false,
    headers: {},
    envNames: [],
  };
}

function authorized(slug: string, name: string, url: string): RemoteApp {
  return { ...open(slug, name, url), oauth: true };
}

function withKey(slug: string, name: string, url: string, envName: string): RemoteApp {
  return { ...open(slug, name, url), headers: { authorization: `Bearer \${${envName}}` }, envNames: [envName] };
}

/** A server that is installed with the service. Of the machine's files it can read its program and its private folder. */
function installed(slug: string, name: string, module: string): LocalApp {
  const program = fileURLToPath(import.meta.resolve(module));
  const marker = `${sep}node_modules${sep}`;
  const packages = program.slice(0, program.lastIndexOf(marker) + marker.length - 1);
  const args = [
    ...['--max-old-space-size=256', '--permission'],
    ...[`--allow-fs-read=${packages}`, '--allow-fs-read=.', '--allow-fs-write=.', program],
  ];
  return {
    slug,
    name,
    transport: 'local',
    oauth: false,
    command: process.execPath,
    args,
    env: PLAIN_ENVIRONMENT,
    envNames: [],
  };
}
