import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

interface MediaType {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Answer {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: object }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema?: object;
}

export interface Operation {
  readonly description?: string;
  readonly operationId: string;
  readonly summary?: string;
  readonly 'x-scope'?: string;
  readonly 'x-session-pass'?: true;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Answer;
  readonly responses: Readonly<Record<string, Answer>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Response headers that the interface promises; no answer has one that is not documented for it. */
const INTERFACE_HEADERS = [
  'x-request-id',
  'x-thread-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'etag',
];

const DOCUMENT = 'https://document.test/openapi.json';

/**
 * Checks bodies against the OpenAPI document. Refuses fields that the schema of an object does not name, so that undocumented fields
 * are found.
 */
export class DocumentedSchemas {
  private readonly ajv: Ajv2020;
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(readonly document: OpenApi) {
    this.ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, validateSchema: false });
    formats.default(this.ajv);
    this.ajv.addSchema({ ...(closed(document) as object), $id: DOCUMENT });
  }

  /** @param route such as `GET /v1/agents/:agentId` */
  operation(route: string): Operation | undefined {
    const [method = '', path = ''] = route.split(' ');
    return this.document.paths[documentPath(path)]?.[method.toLowerCase()];
  }

  /** What is wrong with an answer; undefined when it is as documented. Does not look at the text of a stream. */
  wrongAnswer(route: string, status: number, headers: Headers, text: string): string | undefined {
    const answer = this.operation(route)?.responses[String(status)];
    if (!answer) return `the status ${status} is not documented`;
    return (
      wrongHeaders(answer, headers, status) ?? this.wrongBody(route, status, answer, headers.get('content-type'), text)
    );
  }

  private wrongBody(
    route: string,
    status: number,
    answer: Answer,
    contentType: string | null,
    text: string,
  ): string | undefined {
    if (answer.content === undefined) return text === '' ? undefined : 'a body is not documented';
    const type = contentType?.split(';')[0] ?? 'none';
    const documented = [type, '*/*'].find((name) => name in (answer.content ?? {}));
    if (documented === undefined) return `the content type ${type} is not documented`;
    if (type !== 'application/json' || documented === '*/*') return undefined;
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return 'the body is no JSON';
    }
    return this.complaint([...pathOf(route), 'responses', String(status), 'content', documented, 'schema'], body);
  }

  /** What is wrong with the body of an answer in JSON; undefined when it is as documented. */
  wrongBodyOf(route: string, status: number, body: unknown): string | undefined {
    return this.complaint(
      [...pathOf(route), 'responses', String(status), 'content', 'application/json', 'schema'],
      body,
    );
  }

  /** What is wrong with the data of one event of a stream; undefined when it is as documented. */
  wrongEvent(route: string, status: number, data: string): string | undefined {
    const pointer = [...pathOf(route), 'responses', String(status), 'content', 'text/event-stream', 'schema'];
    return this.complaint(pointer, data === '[DONE]' ? data : JSON.parse(data));
  }

  /** Whether the document lets a request have this body. */
  allowsBody(route: string, body: unknown): boolean {
    const pointer = [...pathOf(route), 'requestBody', 'content', 'application/json', 'schema'];
    return this.complaint(pointer, body) === undefined;
  }

  private schemaAt(reference: string): ValidateFunction {
    const schema = this.compiled.get(reference) ?? this.ajv.compile({ $ref: reference });
    this.compiled.set(reference, schema);
    return schema;
  }

  private complaint(pointer: readonly string[], value: unknown): string | undefined {
    const validate = this.schemaAt(`${DOCUMENT}#/${pointer.map(escaped).join('/')}`);
    if (validate(value)) return undefined;
    return (validate.errors ?? [])
      .map(({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`)
      .join('; ');
  }
}

function wrongHeaders({ headers: documented = {} }: Answer, headers: Headers, status: number): string | undefined {
  const names = new Map(Object.entries(documented).map(([name, header]) => [name.toLowerCase(), header]));
  for (const [name, { required = false }] of names) {
    if (required && !headers.has(name)) return `the header ${name} is missing`;
  }
  // A refused session pass gets the budget of its session on every route.
  const known = (name: string): boolean => names.has(name) || (status >= 400 && name.startsWith('ratelimit-'));
  const extra = INTERFACE_HEADERS.find((name) => headers.has(name) && !known(name));
  return extra === undefined ? undefined : `the header ${extra} is not documented`;
}

export function documentPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function pathOf(route: string): string[] {
  const [method = '', path = ''] = route.split(' ');
  return ['paths', documentPath(path), method.toLowerCase()];
}

function escaped(token: string): string {
  return encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** The document with every object that names its fields closed to others. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map((item) => closed(item));
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  const isOpen = 'additionalProperties' in copy;
  return copy['type'] === 'object' && 'properties' in copy && !isOpen ? { ...copy, additionalProperties: false } : copy;
}
