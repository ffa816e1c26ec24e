import { describe, expect, it } from 'vitest';
import { csrfAllows, logoutAllowed, logoutIntent, serialisedOrigin } from '../../src/authn/csrf.ts';
import type { HeaderValue, LogoutHeaders } from '../../src/authn/csrf.ts';

const policy = { publicOrigin: 'https://app.example', trustedOrigins: new Set(['https://partner.example:8443']) };

/** The header values of the tables, by their names there. */
const sites: Record<string, HeaderValue> = {
  absent: undefined,
  'same-origin': 'same-origin',
  'same-site': 'same-site',
  'cross-site': 'cross-site',
  none: 'none',
  'in capitals': 'Same-Origin',
  'with a space': 'same-origin ',
  'with a parameter': 'same-origin;a',
  empty: '',
  unknown: 'nested-navigate',
  'said absent': 'absent',
  'said undefined': 'undefined',
  joined: 'same-origin, same-origin',
  'joined with evil': 'same-origin, cross-site',
  repeated: ['same-origin', 'same-origin'],
  'repeated none': ['none', 'none'],
  'an empty list': [],
};

const origins: Record<string, HeaderValue> = {
  absent: undefined,
  own: 'https://app.example',
  'own with port': 'https://app.example:443',
  'own in capitals': 'HTTPS://APP.example',
  trusted: 'https://partner.example:8443',
  'trusted without port': 'https://partner.example',
  evil: 'https://evil.example',
  null: 'null',
  empty: '',
  'own over http': 'http://app.example',
  'own on another port': 'https://app.example:8443',
  'own as a prefix': 'https://app.example.evil.example',
  'own as a suffix': 'https://notapp.example',
  'own as a subdomain': 'https://a.app.example',
  'own as user': 'https://app.example@evil.example',
  'own with a final dot': 'https://app.example.',
  'own with a path': 'https://app.example/x',
  'own with a slash': 'https://app.example/',
  'own with a backslash': 'https://app.example\\@evil.example',
  'own without scheme': 'app.example',
  'another scheme': 'chrome-extension://app.example',
  junk: 'https://',
  joined: 'https://app.example, https://app.example',
  repeated: ['https://app.example', 'https://app.example'],
  'a list of one': ['https://app.example'],
};

const referers: Record<string, HeaderValue> = {
  absent: undefined,
  own: 'https://app.example/page?a=1,2#x',
  'own origin': 'https://app.example/',
  'own with port': 'https://app.example:443/page',
  trusted: 'https://partner.example:8443/page',
  evil: 'https://evil.example/page',
  'evil naming own': 'https://evil.example/https://app.example/',
  'own as user': 'https://app.example@evil.example/',
  'own as a prefix': 'https://app.example.evil.example/',
  'own over http': 'http://app.example/page',
  'about:blank': 'about:blank',
  'a data address': 'data:text/html,x',
  'a blob of own': 'blob:https://app.example/7d0b',
  relative: '/page',
  empty: '',
  junk: 'https://[',
  repeated: ['https://app.example/', 'https://app.example/'],
};

const purposes: Record<string, Partial<LogoutHeaders>> = {
  none: {},
  'sec-purpose prefetch': { secPurpose: 'prefetch' },
  'sec-purpose prerender': { secPurpose: 'prefetch;prerender' },
  'sec-purpose in capitals': { secPurpose: 'Prefetch' },
  'sec-purpose among others': { secPurpose: 'x, prefetch' },
  'sec-purpose repeated': { secPurpose: ['x', 'prefetch'] },
  'purpose prefetch': { purpose: 'prefetch' },
  'purpose in capitals': { purpose: 'PREFETCH' },
  'purpose repeated': { purpose: ['prefetch', 'prefetch'] },
};

const wellFormed = Object.keys(origins).filter((name) => !['joined', 'repeated', 'a list of one'].includes(name));

describe('csrfAllows', () => {
  /** The origins that may act, by the value of Sec-Fetch-Site. With a site that is not listed no origin may act. */
  const permitted: Record<string, string[]> = {
    'same-origin': wellFormed,
    none: wellFormed,
    'same-site': ['trusted'],
    'cross-site': ['trusted'],
    absent: ['absent', 'own', 'own with port', 'own in capitals', 'trusted'],
  };

  for (const [site, secFetchSite] of Object.entries(sites)) {
    const expected = permitted[site] ?? [];
    it(`a request with Sec-Fetch-Site ${site} is allowed for ${expected.length} of the origins (rules 27, 28)`, () => {
      expect(Object.keys(origins).filter((name) => csrfAllows({ secFetchSite, origin: origins[name] }, policy))).toEqual(expected);
    });
  }

  it('an empty list trusts no origin, not even an empty or a null one (rule 28)', () => {
    const lone = { publicOrigin: 'https://app.example', trustedOrigins: new Set<string>() };
    for (const origin of Object.values(origins)) expect(csrfAllows({ secFetchSite: 'cross-site', origin }, lone)).toBe(false);
  });

  it('a policy that contains null or an empty text by mistake still refuses an opaque origin (rule 28)', () => {
    const careless = { publicOrigin: 'https://app.example', trustedOrigins: new Set(['null', 'undefined', '*']) };
    for (const secFetchSite of [undefined, 'cross-site', 'same-site'])
      for (const origin of ['null', '*', 'undefined', 'https://evil.example'])
        expect(csrfAllows({ secFetchSite, origin }, careless)).toBe(false);
  });
});

describe('logoutAllowed', () => {
  const none: LogoutHeaders = { secFetchSite: undefined, origin: undefined, referer: undefined, secPurpose: undefined, purpose: undefined };

  /** All pairs of Origin and Referer that end the session, written `origin / referer`. */
  const allowedPairs = (headers: Partial<LogoutHeaders>) =>
    Object.entries(origins).flatMap(([originName, origin]) =>
      Object.entries(referers)
        .filter(([, referer]) => logoutAllowed({ ...none, ...headers, origin, referer }, policy))
        .map(([refererName]) => `${originName} / ${refererName}`),
    );

  const ourOrigins = ['absent', 'own', 'own with port', 'own in capitals', 'trusted'];
  const ourReferers = ['absent', 'own', 'own origin', 'own with port', 'trusted'];
  const singleReferers = Object.keys(referers).filter((name) => name !== 'repeated');
  const pairs = (first: string[], second: string[]) => first.flatMap((origin) => second.map((referer) => `${origin} / ${referer}`));

  const permitted: Record<string, string[]> = {
    'same-origin': pairs(wellFormed, singleReferers),
    absent: pairs(ourOrigins, ourReferers),
  };

  for (const [site, secFetchSite] of Object.entries(sites)) {
    const expected = permitted[site] ?? [];
    it(`with Sec-Fetch-Site ${site}, ${expected.length} pairs of Origin and Referer end the session (rules 23, 24)`, () => {
      expect(allowedPairs({ secFetchSite })).toEqual(expected);
    });

    for (const [purpose, headers] of Object.entries(purposes).filter(([name]) => name !== 'none'))
      it(`with Sec-Fetch-Site ${site} and ${purpose}, no request ends the session: the browser only prefetches (rule 24)`, () => {
        expect(allowedPairs({ secFetchSite, ...headers })).toEqual([]);
      });
  }

  it('a purpose other than prefetch is allowed (rule 24)', () => {
    expect(logoutAllowed({ ...none, secFetchSite: 'same-origin', secPurpose: 'navigate', purpose: 'x' }, policy)).toBe(true);
  });

  it('an <img> or a no-cors fetch of another site is refused, with and without its Referer (rule 23)', () => {
    expect(logoutAllowed({ ...none, secFetchSite: 'same-origin' }, policy)).toBe(true);
    expect(logoutAllowed({ ...none, secFetchSite: 'cross-site' }, policy)).toBe(false);
    expect(logoutAllowed({ ...none, referer: 'https://evil.example/' }, policy)).toBe(false);
  });
});

describe('logoutIntent', () => {
  const values: Record<string, HeaderValue> = {
    absent: undefined,
    1: '1',
    0: '0',
    empty: '',
    true: 'true',
    '01': '01',
    '1 with a space': ' 1',
    '1 twice': ['1', '1'],
    '1 and 0': ['1', '0'],
    'a list of one': ['1'],
  };

  for (const method of ['HEAD', 'GET', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'head'])
    for (const [name, logout] of Object.entries(values)) {
      const expected = name === 'absent' ? 'keep' : `${method} ${name}` === 'HEAD 1' ? 'end' : 'malformed';
      it(`${method} /auth with logout ${name}: ${expected} (rule 22)`, () => {
        expect(logoutIntent(method, { logout })).toBe(expected);
      });
    }

  it('a query without the parameter does not end the session (rule 22)', () => {
    expect(logoutIntent('HEAD', {})).toBe('keep');
  });
});

it.each([
  ['https://app.example', 'https://app.example'],
  ['https://app.example:443', 'https://app.example'],
  ['http://app.example:80', 'http://app.example'],
  ['https://app.example:80', 'https://app.example:80'],
  ['HTTPS://App.Example:8443', 'https://app.example:8443'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['http://[::1]:3000', 'http://[::1]:3000'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
])('the origin %s is normalised to %s, so that equal origins are equal strings (rule 29)', (text, origin) => {
  expect(serialisedOrigin(text)).toBe(origin);
});

it.each([
  '',
  'null',
  '*',
  'https://',
  'https://a/',
  'https://a/b',
  'https://a?b',
  'https://a#b',
  'https://u@a',
  'https:a',
  '//a',
  'a',
  'ftp://a',
  'https://a b',
])('%j is no origin (rule 29)', (text) => {
  expect(serialisedOrigin(text)).toBeUndefined();
});
