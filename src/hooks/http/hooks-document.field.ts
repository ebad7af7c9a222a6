import { field, type FieldOptions, rule } from '../../platform/http/index.js';
import { EVENT_RULES, HOOK_EVENTS } from '../domain/hook-event.js';
import {
  MAX_HANDLERS,
  MAX_HEADERS,
  MAX_INPUT_CHARACTERS,
  MAX_INPUT_VALUES,
  MAX_STRING,
  MAX_TIMEOUT_SECONDS,
} from '../limits.js';

const TEXT = { type: 'string', maxLength: MAX_STRING };
const NAME = { ...TEXT, minLength: 1 };

const SETTINGS = {
  timeout: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_TIMEOUT_SECONDS,
    description:
      `In seconds, from the connection to the end of the response. By default ${EVENT_RULES.SessionStart.timeoutSeconds} for SessionStart and ` +
      `${EVENT_RULES.Stop.timeoutSeconds} for the others.`,
  },
  failClosed: {
    type: 'boolean',
    description: 'A failure blocks. Allowed on UserPromptSubmit and PreToolUse; the other events always fail open.',
  },
};

const HTTP_HANDLER = {
  type: 'object',
  required: ['type', 'url'],
  additionalProperties: false,
  properties: {
    type: {
      type: 'string',
      enum: ['http'],
      description: 'The service posts the input of the hook to a URL; the JSON response is the output.',
    },
    url: {
      ...NAME,
      format: 'uri',
      description:
        'An https URL without user information. It must not lead to a private address; the service checks that at each call.',
    },
    headers: {
      type: 'object',
      maxProperties: MAX_HEADERS,
      additionalProperties: NAME,
      description:
        'Sent with each call. Values are stored encrypted and read as `<redacted>`; `<redacted>` in a request keeps the value that ' +
        'is stored for this URL and name. content-type, content-length, host, x-hook-event and connection headers are refused.',
    },
    ...SETTINGS,
  },
};

const TOOL_HANDLER = {
  type: 'object',
  required: ['type', 'server', 'tool'],
  additionalProperties: false,
  properties: {
    type: {
      type: 'string',
      enum: ['mcp_tool'],
      description:
        'The service calls a tool. A result that looks like JSON is the output; any other text is additional context.',
    },
    server: { ...NAME, description: "The app of one of the agent's custom-mcp integrations." },
    tool: { ...NAME, description: "The server's own name of the tool; it may be one that the model is not offered." },
    input: {
      type: 'object',
      additionalProperties: true,
      description:
        'Strings may refer to fields of the input, as in `${tool_input.path}`. A value that is exactly one placeholder keeps its type; ' +
        'a key whose placeholder names an absent field is dropped, as is a key that the tool does not declare. All inputs of a document together ' +
        `have at most ${MAX_INPUT_VALUES} values and ${MAX_INPUT_CHARACTERS} characters.`,
    },
    ...SETTINGS,
  },
};

const GROUP = {
  type: 'object',
  required: ['hooks'],
  additionalProperties: false,
  properties: {
    matcher: {
      ...TEXT,
      description:
        'An absent or empty matcher and `*` match everything; letters, digits, `_`, `-` and `|` alone are a list of exact names; anything else is ' +
        'an unanchored regular expression in the syntax of RE2. SessionStart compares it with `startup`, PreToolUse and PostToolUse with the ' +
        "tool's name as the model sees it; UserPromptSubmit and Stop ignore it.",
    },
    hooks: {
      description: 'The handlers, which run in parallel.',
      type: 'array',
      minItems: 1,
      maxItems: MAX_HANDLERS,
      items: { oneOf: [HTTP_HANDLER, TOOL_HANDLER], discriminator: { propertyName: 'type' } },
    },
  },
};

const GROUPS = { type: 'array', items: GROUP, description: `At most ${MAX_HANDLERS} handlers over all groups.` };

/** A hooks document. Only its presence is checked here: the use case reads it and names the path of a fault. */
export function HooksDocumentField(options: FieldOptions): PropertyDecorator {
  const schema = {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(HOOK_EVENTS.map((event) => [event, GROUPS])),
  };
  const isThere = (value: unknown): boolean => value !== undefined;
  return field(options, schema, rule('isThere', isThere, { message: 'is required' }));
}
