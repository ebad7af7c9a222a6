import { describe, expect, it } from '@jest/globals';
import { safeImage, safeLink, undisclosedHost, withoutUsers } from './safe-urls.js';

describe('A link', () => {
  it.each([
    ['https://a.example/x', 'https://a.example/x'],
    ['https://user:secret@a.example/', 'https://a.example/'],
    ['https://bank.example%2F@a.example/', 'https://a.example/'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['tel:+123', 'tel:+123'],
    ['javascript:alert(1)', undefined],
    [' JaVa\nScript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['/relative', undefined],
  ])('%j leads to %j', (href, url) => {
    expect(safeLink(href)?.href).toBe(url);
  });

  it.each([
    ['the shop', 'https://evil.example/', null],
    ['shop.example', 'https://shop.example/a', null],
    ['https://shop.example/file.html?x=other.example', 'https://www.shop.example/', null],
    ['Version 1.2 of it, e.g. this', 'https://evil.example/', null],
    ['write to a@shop.example', 'mailto:a@evil.example', null],
    ['shop.example', 'https://evil.example:8443/', 'evil.example:8443'],
    ['Sign in (SHOP.example)', 'https://evil.example/', 'evil.example'],
    ['https://shop.example@evil.example', 'https://evil.example/', 'evil.example'],
    ['shop.example', 'https://shop.example.evil.example/', 'shop.example.evil.example'],
    ['sh\u200bop.exam\u00adple', 'https://evil.example/', 'evil.example'],
    ['shop\uff0eexample', 'https://evil.example/', 'evil.example'],
    ['evil.example or shop.example', 'https://evil.example/', 'evil.example'],
    ['192.168.0.1', 'https://evil.example/', 'evil.example'],
    ['sh\u043ep.example', 'https://sh\u043ep.example/', 'xn--shp-ted.example'],
    ['sh\u043ep.example', 'https://shop.example/', 'shop.example'],
    ['\u0645\u062b\u0627\u0644.\u0625\u062e\u062a\u0628\u0627\u0631', 'https://evil.example/', 'evil.example'],
  ])('with the text %j to %s shows %j', (text, href, host) => {
    const url = safeLink(href);
    expect(url && undisclosedHost(text, url)).toBe(host);
  });

  it('is shown without the user name', () => {
    expect(withoutUsers(['https://a:b@c.example/d@e and http://x@y'])).toEqual(['https://c.example/d@e and http://y']);
    expect(withoutUsers(['see https:', '//us', 'er:p', '@c.example'])).toEqual(['see https:', '//', '', 'c.example']);
  });
});

it('An image comes by https alone', () => {
  expect(safeImage('https://u@a.example/i.png')?.href).toBe('https://a.example/i.png');
  expect(safeImage('http://a.example/i.png')).toBeNull();
  expect(safeImage('data:image/png;base64,AAAA')).toBeNull();
});
