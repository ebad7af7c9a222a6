import { ApiExtension, ApiParam } from '@nestjs/swagger';
import { EXAMPLE_IDS } from './example-ids.js';

type Json = Readonly<Record<string, unknown>>;

/** The request that “Try it out” sends. It works with the demo unchanged; of several bodies, the first one does. */
export interface RequestExample {
  /** Path parameters that differ from `PATH_PARAMETERS`. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: Json;
  /** Bodies to choose from, by their purpose. */
  readonly bodies?: Readonly<Record<string, Json>>;
  /** What the request needs and the demo lacks, for the description. */
  readonly needs?: string;
}

interface PathParameter {
  readonly description: string;
  readonly example: string | number;
}

/** The path parameters by their names. */
const PATH_PARAMETERS: Readonly<Record<string, PathParameter>> = {
  agentId: { description: 'The agent.', example: EXAMPLE_IDS.agent },
  threadId: { description: 'The conversation.', example: EXAMPLE_IDS.thread },
  messageId: {
    description: 'A reply of the agent, as the messages of the thread have it.',
    example: EXAMPLE_IDS.message,
  },
  runId: { description: 'A run of the thread.', example: EXAMPLE_IDS.run },
  traceId: { description: 'The trace, which has the id of its run.', example: EXAMPLE_IDS.run },
  sectionId: { description: 'The section.', example: EXAMPLE_IDS.section },
  integrationId: { description: 'The integration.', example: EXAMPLE_IDS.integration },
  fileId: { description: 'The file.', example: EXAMPLE_IDS.knowledgeFile },
  version: { description: 'Number of a version of the agent.', example: 3 },
  deliveryId: { description: 'The delivery, by the id of its event.', example: EXAMPLE_IDS.delivery },
  id: { description: 'What the route is about.', example: EXAMPLE_IDS.apiKey },
  model: { description: 'The id of an agent, which is its name as a model.', example: EXAMPLE_IDS.agent },
};

const EXAMPLE_EXTENSION = 'x-request-example';

/** Declares the request that “Try it out” sends. */
export function ApiExample(example: RequestExample): MethodDecorator {
  return ApiExtension(EXAMPLE_EXTENSION, example);
}

/** Documents a path parameter that is a UUID. */
export function ApiUuidParam(name: string): MethodDecorator {
  return ApiParam({ name, schema: { type: 'string', format: 'uuid' } });
}

interface Described {
  readonly name?: string;
  readonly in?: string;
  description?: string;
  example?: unknown;
}

interface Exemplified {
  [EXAMPLE_EXTENSION]?: RequestExample;
  description?: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
}

/** Adds the examples and the descriptions of the path parameters to an operation of the document. */
export function exemplifyRequest(operation: Exemplified): void {
  const { path = {}, query = {}, body, bodies, needs } = operation[EXAMPLE_EXTENSION] ?? {};
  Reflect.deleteProperty(operation, EXAMPLE_EXTENSION);
  if (needs !== undefined)
    operation.description = [operation.description, `The demo refuses it: it needs ${needs}.`]
      .filter(Boolean)
      .join(' ');
  for (const parameter of (operation.parameters ?? []) as Described[]) {
    const { name = '' } = parameter;
    if (parameter.in === 'path') Object.assign(parameter, { ...PATH_PARAMETERS[name], ...exampleOf(path[name]) });
    else Object.assign(parameter, exampleOf(query[name]));
  }
  const { content = {} } = (operation.requestBody ?? {}) as { readonly content?: Readonly<Record<string, object>> };
  for (const type of Object.values(content)) {
    if (body) Object.assign(type, { example: body });
    if (bodies) {
      const named = Object.entries(bodies).map(([name, value]) => [name, { summary: name, value }] as const);
      Object.assign(type, { examples: Object.fromEntries(named) });
    }
  }
}

function exampleOf(value: unknown): { readonly example?: unknown } {
  return value === undefined ? {} : { example: value };
}
