import { describe, expect, it } from '@jest/globals';
import { isDataUrl, readDataUrl } from './data-url.js';

describe('a data URL', () => {
  it.each([
    ['data:image/png;base64,iVBORw==', 'image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47])],
    ['DATA:text/plain;charset=utf-8;base64,aGk=', 'text/plain', Buffer.from('hi')],
    ['data:text/plain;base64,aG%6B%3D', 'text/plain', Buffer.from('hi')],
    ['data:;base64,aGk', '', Buffer.from('hi')],
    ['data:,gr%C3%BC%C3%9Fe, alle', '', Buffer.from('grüße, alle')],
    ['data:text/plain,', 'text/plain', Buffer.alloc(0)],
  ])('%s is read', (url, mediaType, data) => {
    expect(isDataUrl(url)).toBe(true);
    expect(readDataUrl(url)).toEqual({ mediaType, data });
  });

  it.each([
    'data:image/png;base64,a?b',
    'data:image/png;base64,a=b',
    'data:image/png;base64',
    'data:,%E0%A4%A',
    'https://a.example/,b',
  ])('%s is refused', (url) => {
    expect(readDataUrl(url)).toBeNull();
  });
});
