import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { InvalidSetting, readJsonFile, Settings } from '../../platform/config/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import type { IntegrationRequest } from '../domain/integration-request.js';
import { builtInApps } from './built-in-apps.js';
import { type CatalogueEntry, catalogueEntry } from './catalogue-entry.js';

const SETTING = 'MCP_CATALOGUE';

const catalogueFile = z.strictObject({ apps: z.array(z.unknown()).max(1_000) });

/** The apps of this project and those of the operator, which replace the project's of the same slug. */
@Injectable()
export class AppCatalogue {
  private readonly bySlug: ReadonlyMap<string, CatalogueEntry>;

  /** @throws InvalidSetting */
  constructor({ mcpCatalogue }: Settings) {
    const own = mcpCatalogue === undefined ? [] : readApps(mcpCatalogue);
    this.bySlug = new Map([...builtInApps, ...own].map((entry) => [entry.slug, entry]));
  }

  /** By slug. */
  all(): readonly CatalogueEntry[] {
    return [...this.bySlug.values()].sort((one, other) => (one.slug < other.slug ? -1 : 1));
  }

  find(slug: string): CatalogueEntry | undefined {
    return this.bySlug.get(slug);
  }

  /** @throws ValidationFailed for a request that contradicts the catalogue */
  requireValid({ settings, keepsEnvironment }: IntegrationRequest): void {
    if (settings.type !== 'managed-mcp') return;
    const app = this.find(settings.app);
    if (!app) {
      throw new ValidationFailed(
        'body/app must be the slug of an app of the catalogue; GET /v1/integrations/apps lists them',
      );
    }
    const { name, oauth, envNames } = app;
    if (oauth && !keepsEnvironment) {
      throw new ValidationFailed(`body/secrets is not allowed: ${name} is signed in to with OAuth`);
    }
    const unknown = settings.envNames.find((each) => !envNames.includes(each));
    if (unknown === undefined) return;
    const known = envNames.length === 0 ? 'it has none' : `it has ${envNames.join(', ')}`;
    throw new ValidationFailed(`body/secrets/envMap/${unknown} is no environment variable of ${name}; ${known}`);
  }
}

/** Runs before the service starts, so that an invalid file stops the start with one line. @throws InvalidSetting */
export function checkCatalogueSetting(settings: Settings): void {
  new AppCatalogue(settings);
}

/** @throws InvalidSetting that names the first invalid entry, but no value of it, which may be a secret */
function readApps(path: string): readonly CatalogueEntry[] {
  const file = catalogueFile.safeParse(readJsonFile(SETTING, path));
  if (!file.success)
    throw new InvalidSetting(`${SETTING}: the file must be an object with the list apps, and nothing else`);
  const apps = file.data.apps.map(readApp);
  const slugs = apps.map(({ slug }) => slug);
  const repeated = slugs.findIndex((slug, index) => slugs.indexOf(slug) < index);
  if (repeated >= 0) throw wrongEntry(repeated, apps[repeated], 'slug: is the slug of an earlier entry');
  return apps;
}

function readApp(given: unknown, index: number): CatalogueEntry {
  const parsed = catalogueEntry.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path = [], message = 'is not valid' } = parsed.error.issues[0] ?? {};
  throw wrongEntry(index, given, [...path, message].join(': '));
}

function wrongEntry(index: number, given: unknown, what: string): InvalidSetting {
  const slug = z.object({ slug: z.string().regex(/^[\w-]{1,64}$/) }).safeParse(given).data?.slug;
  const [line = ''] = what.split('\n');
  return new InvalidSetting(`${SETTING}: entry ${index + 1}${slug === undefined ? '' : ` (${slug})`}: ${line}`);
}
