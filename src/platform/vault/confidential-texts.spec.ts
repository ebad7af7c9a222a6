import { describe, expect, it } from '@jest/globals';
import { ConfidentialTexts } from './confidential-texts.js';

describe('a secret that was sent to a server', () => {
  it.each([
    ['as it is', 'secret-value', 'You sent secret-value.', 'You sent [redacted].'],
    [
      'without its scheme',
      'Bearer secret-value',
      'Token secret-value, Bearer secret-value',
      'Token [redacted], [redacted]',
    ],
    ['within JSON', 'secret "value"', '{"key":"secret \\"value\\""}', '{"key":"[redacted]"}'],
    ['with signs of a pattern', 'a$&.*(secret', 'It is a$&.*(secret', 'It is [redacted]'],
  ])('is redacted in a text: %s', (_how, secret, text, left) => {
    expect(new ConfidentialTexts([secret]).redact(text)).toBe(left);
  });

  it('is redacted as a whole if another secret is its beginning', () => {
    expect(new ConfidentialTexts(['secret-value', 'secret-value-2']).redact('secret-value-2')).toBe('[redacted]');
  });

  it.each(['short', '', 'https://tickets.example/api'])(
    'stays if it is short or an address without credentials: %j',
    (value) => {
      expect(new ConfidentialTexts([value]).redact(`See ${value}/1`)).toBe(`See ${value}/1`);
    },
  );

  it('is redacted if it is an address with credentials', () => {
    const url = 'https://user:secret@tickets.example/api';
    expect(new ConfidentialTexts([url]).redact(url)).toBe('[redacted]');
  });
});
