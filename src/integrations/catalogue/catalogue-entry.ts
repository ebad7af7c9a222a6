import { z } from 'zod';
import type { TransportType } from '../domain/integration.js';

interface CatalogueApp {
  /** The `app` of an integration of type `managed-mcp`. */
  readonly slug: string;
  readonly name: string;
  /** A person has to authorize the connection. Such an app has no `envNames`. */
  readonly oauth: boolean;
  /** The values that a customer has to provide. */
  readonly envNames: readonly string[];
}

/** A server at another address. */
export interface RemoteApp extends CatalogueApp {
  readonly transport: 'remote';
  readonly url: string;
  readonly transportType: TransportType;
  /** Values are templates: `${NAME}` stands for the value of that environment name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A process of this service. */
export interface LocalApp extends CatalogueApp {
  readonly transport: 'local';
  readonly oauth: false;
  /** A program of the search path, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** The same for every integration. */
  readonly env: Readonly<Record<string, string>>;
  /** Name of the variable that gets the path of a file in the server's private folder. */
  readonly stateFile?: string;
}

export type CatalogueEntry = RemoteApp | LocalApp;

const TEMPLATE = /\$\{([^}]*)\}/g;

/** With these variables a customer could choose the program that runs, or make it load other code. */
const UNSAFE_NAME =
  /^(PATH|HOME|TMPDIR|ENV|BASH_ENV|IFS|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|PYTHONPATH|PYTHONHOME|PYTHONSTARTUP)$/;

const slug = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, { message: 'must be lower case letters and digits, in words joined by dashes' });
const name = z.string().min(1).max(100);
const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { message: 'must be the name of an environment variable' });
const envNames = z
  .array(
    variable.refine((given) => !UNSAFE_NAME.test(given), {
      message: 'must not be a variable that changes how programs or shells run',
    }),
  )
  .max(50)
  .refine((names) => new Set(names).size === names.length, { message: 'must not hold a name twice' })
  .default([]);
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, { message: 'must be the name of an HTTP header' });
const noNul = z.string().regex(/^[^\0]*$/, { message: 'must not hold a NUL character' });

const remoteApp = z
  .strictObject({
    slug,
    name,
    transport: z.literal('remote'),
    url: z.url({ protocol: /^https?$/, message: 'must be an http or https URL' }),
    transportType: z.enum(['streamableHttp', 'sse']).default('streamableHttp'),
    oauth: z.boolean().default(false),
    headers: z.record(headerName, z.string().regex(/^[\x20-\x7e]*$/, { message: 'must be visible ASCII' })).default({}),
    envNames,
  })
  .refine(({ oauth, envNames }) => !oauth || envNames.length === 0, {
    path: ['envNames'],
    message: 'must be empty for an app with oauth',
  })
  .refine(({ headers, envNames }) => namesIn(headers).every((used) => envNames.includes(used)), {
    path: ['headers'],
    message: 'must not use a name that envNames does not have',
  })
  .refine(({ headers, envNames }) => envNames.every((declared) => namesIn(headers).includes(declared)), {
    path: ['envNames'],
    message: 'must not hold a name that headers does not use',
  });

const localApp = z
  .strictObject({
    slug,
    name,
    transport: z.literal('local'),
    command: noNul.regex(/^(\/.+|[^/]+)$/, { message: 'must be the name of a program or an absolute path' }),
    args: z.array(noNul).default([]),
    env: z.record(variable, noNul).default({}),
    envNames,
    stateFile: variable.optional(),
  })
  .transform((entry): LocalApp => ({ ...entry, oauth: false }));

/** One app, as the project's and an operator's catalogue contain it. */
export const catalogueEntry: z.ZodType<CatalogueEntry> = z.discriminatedUnion('transport', [remoteApp, localApp]);

function namesIn(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(headers).flatMap((template) => [...template.matchAll(TEMPLATE)].map(([, used = '']) => used));
}

export function fillTemplate(template: string, valueOf: (name: string) => string): string {
  return template.replace(TEMPLATE, (_whole, used: string) => valueOf(used));
}
