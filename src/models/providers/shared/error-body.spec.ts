import { describe, expect, it } from '@jest/globals';
import { codesIn, codesOf } from './error-body.js';

describe("the codes of a provider's error", () => {
  it.each([
    ['Anthropic', '{"type":"error","error":{"type":"overloaded_error","message":"said canary"}}', 'overloaded_error'],
    [
      'OpenAI',
      '{"error":{"message":"said canary","type":"invalid_request_error","param":null,"code":"model_not_found"}}',
      'invalid_request_error model_not_found',
    ],
    ['Gemini', '{"error":{"code":429,"message":"said canary","status":"RESOURCE_EXHAUSTED"}}', 'RESOURCE_EXHAUSTED'],
    [
      'Gemini in a list',
      '[{"error":{"code":429,"message":"said canary","status":"RESOURCE_EXHAUSTED"}}]',
      'RESOURCE_EXHAUSTED',
    ],
    ['an SDK, after its own text', '529 {"type":"error","error":{"type":"overloaded_error"}}', 'overloaded_error'],
    ['an error that is its own body', '{"code":"server_error","message":"said canary"}', 'server_error'],
    ['a body with an empty error', '{"error":null,"code":"server_error"}', 'server_error'],
    ['no JSON', 'said canary', ''],
    ['broken JSON', '{"error":{"type":"canary', ''],
    ['sentences for codes', '{"error":{"type":"the user said canary","code":7}}', ''],
    ['an error in words', '{"error":"said canary"}', ''],
  ])('of %s are found, and nothing else is quoted', (_provider, text, codes) => {
    expect(codesIn(text)).toBe(codes);
  });

  it('are listed once', () => {
    expect(codesOf('server_error', null, 'server_error', 'x'.repeat(65))).toBe('server_error');
  });
});
