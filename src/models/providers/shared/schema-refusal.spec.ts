import { describe, expect, it } from '@jest/globals';
import { formatRefusal, schemaRefusal } from './schema-refusal.js';

const TOOLS = ['zero', 'one', 'mcp__crm__two', 'three'].map((name) => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
}));

const anthropic = (message: string): object => ({ type: 'error', error: { type: 'invalid_request_error', message } });
const openai = (message: string, param: string | null, code: string | null): object => ({
  error: { message, type: 'invalid_request_error', param, code },
});
const gemini = (message: string, details?: object[]): object => ({
  error: { code: 400, message, status: 'INVALID_ARGUMENT', details },
});

function refusalIn(body: object | string, tools = TOOLS, secrets: string[] = []) {
  return schemaRefusal(typeof body === 'string' ? body : JSON.stringify(body), tools, secrets);
}

describe('a refusal because of a schema', () => {
  it.each<[string, object | string, string[]]>([
    [
      'Anthropic',
      anthropic('tools.2.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12.'),
      ['mcp__crm__two'],
    ],
    ['Anthropic, older', anthropic('tools.3.input_schema.type: Field required'), ['three']],
    [
      'Anthropic, without a place',
      anthropic('input_schema does not support oneOf, allOf, or anyOf: invalid tool schema'),
      [],
    ],
    [
      'OpenAI',
      openai(
        "Invalid schema for function 'mcp__crm__two': In context=('properties', 'a'), array schema missing items.",
        'tools[2].parameters',
        'invalid_function_parameters',
      ),
      ['mcp__crm__two'],
    ],
    [
      'OpenAI, by its place alone',
      openai('Array schema missing items.', 'tools[1].function.parameters', 'invalid_function_parameters'),
      ['one'],
    ],
    ['OpenAI, by a name alone', openai("Invalid schema for function 'three': no.", null, null), ['three']],
    [
      'OpenAI, by a name that the request has not',
      openai("Invalid schema for function 'other': no.", null, 'invalid_function_parameters'),
      [],
    ],
    [
      'Gemini',
      gemini(
        '* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[a].items: missing field.\n* GenerateContentRequest.tools[0].function_declarations[3].parameters.properties[b].enum: only allowed for STRING type',
      ),
      ['one', 'three'],
    ],
    [
      'Gemini, its newer field',
      gemini("Invalid value at 'tools[0].function_declarations[2].parameters_json_schema'"),
      ['mcp__crm__two'],
    ],
    [
      'Gemini, in its details',
      gemini('Invalid JSON payload received.', [
        { fieldViolations: [{ field: 'tools[0].functionDeclarations[0].parametersJsonSchema' }] },
      ]),
      ['zero'],
    ],
    [
      'Gemini, without a place',
      gemini('The specified schema produces a constraint that has too many states for serving.'),
      [],
    ],
    ['Gemini, as a list', JSON.stringify([gemini("at 'tools[0].function_declarations[1].parameters'")]), ['one']],
    [
      'Anthropic, of an argument with the name of something else',
      anthropic('tools.3.custom.input_schema: properties.response_format.tool_choice is invalid'),
      ['three'],
    ],
    ['a body that was cut', '{"error":{"message":"tools.1.custom.input_schema: JSON schema is inv', ['one']],
  ])('is recognized in the error of %s', (_provider, body, tools) => {
    expect(refusalIn(body)?.tools).toEqual(tools);
  });

  it.each<[string, object | string]>([
    ['a name of a tool', anthropic("tools.2.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")],
    ['a message', anthropic('messages.1.content.0: unexpected `tool_use_id`')],
    [
      'the schema of the answer',
      openai("Invalid schema for response_format 'x': In context=(), no.", 'text.format.schema', 'invalid_json_schema'),
    ],
    [
      'the choice of a tool',
      openai('Invalid tool_choice: the function has no schema', 'tool_choice.function.name', 'invalid_value'),
    ],
    ['an earlier call', anthropic('messages.3.content.0.tool_use.input: does not match the schema of the tool')],
    ['structured output', anthropic('output_format: tools with strict schemas cannot be used with structured outputs')],
    ['anything', gemini('Request contains an invalid argument.')],
    ['no error at all', ''],
  ])('is not an error because of %s', (_what, body) => {
    expect(refusalIn(body)).toBeUndefined();
  });

  it('needs a request with tools', () => {
    expect(refusalIn(anthropic('tools.0.custom.input_schema: no'), [])).toBeUndefined();
  });

  it('is quoted on one short line without keys', () => {
    const words = `tools.1.custom.input_schema: no\n\u0000 of own-key-1, sk-ant-0123456789abcdef and ${'x'.repeat(1_000)}`;
    const reason = refusalIn(anthropic(words), TOOLS, ['own-key-1', ''])?.reason ?? '';
    expect(reason).toMatch(/^tools\.1\.custom\.input_schema: no of \[secret\], \[secret\] and x+$/);
    expect(reason).toHaveLength(300);
  });
});

describe('a refusal because of the response format', () => {
  it.each([
    ['Anthropic', anthropic('output_config.format.schema: For object type, additionalProperties must be false')],
    ['Anthropic, of its size', anthropic('The compiled grammar is too large')],
    ['OpenAI', openai("Invalid schema for response_format 'x': no.", 'text.format.schema', 'invalid_json_schema')],
    ['OpenAI, by its place alone', openai('Missing required parameter.', 'text.format.name', 'missing')],
    ['Gemini', gemini('Invalid JSON payload received. Unknown name at generation_config.response_json_schema')],
    ['Gemini, without a place', gemini('The specified schema produces a constraint that has too many states.')],
  ])('is recognized in the error of %s', (_provider, body) => {
    expect(formatRefusal(JSON.stringify(body), [])).toEqual({
      reason: (body as { error: { message: string } }).error.message,
    });
  });

  it.each([
    anthropic('messages.1.content.0: unexpected `tool_use_id`'),
    gemini('Request contains an invalid argument.'),
  ])('is no other error', (body) => {
    expect(formatRefusal(JSON.stringify(body), [])).toBeUndefined();
  });

  it('is quoted without keys', () => {
    const body = JSON.stringify(anthropic('output_config.format: no, own-key-1 and sk-ant-0123456789abcdef'));
    expect(formatRefusal(body, ['own-key-1'])?.reason).toBe('output_config.format: no, [secret] and [secret]');
  });
});
