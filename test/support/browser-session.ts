/** A browser that signs in at a provider: it stores cookies, follows redirects, and returns the answers. */
import { expect } from 'vitest';
import type { TestIssuer } from './issuer.ts';
import type { Answer, TestService } from './service.ts';

export class BrowserSession {
  /** The cookies of the service. */
  readonly cookies = new Map<string, string>();
  /** The cookies of the provider. */
  readonly jar = new Map<string, string>();
  readonly #service: TestService;

  constructor(service: TestService) {
    this.#service = service;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async call<T = { code: string; user: { name: string } }>(method: string, path: string): Promise<Answer<T>> {
    const answer = await this.#service.call<T>(method, path, { cookie: this.cookie });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0(;|$)/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  /** Begins the sign-in; returns the address at the provider. */
  async start(issuer: TestIssuer, query = ''): Promise<URL> {
    const answer = await this.call('GET', `/auth/oidc/${issuer.id}/start${query}`);
    expect(answer.status, answer.text).toBe(303);
    return new URL(answer.headers.get('location') ?? '');
  }

  /** Logs in at the provider; returns the path that the provider redirects it to. */
  async visit(issuer: TestIssuer, address: URL, login: string, cancel = false): Promise<string> {
    const { pathname, search } = await issuer.visit(address.href, login, { jar: this.jar, cancel });
    return pathname + search;
  }

  /** Signs in; returns the service's answer to the callback. */
  async signIn(issuer: TestIssuer, login: string, query = ''): Promise<Answer<{ code: string }>> {
    return await this.call('GET', await this.visit(issuer, await this.start(issuer, query), login));
  }
}
