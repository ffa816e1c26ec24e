/** A browser that signs in at a provider: it keeps cookies, follows what it is told to, and shows what it got. */
import { expect } from 'vitest';
import type { TestIssuer } from './issuer.ts';
import type { Answer, TestService } from './service.ts';

export class BrowserSession {
  /** Of the service. */
  readonly cookies = new Map<string, string>();
  /** Of the provider. */
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

  /** Leaves for the provider; returns the address it is sent to there. */
  async start(issuer: TestIssuer, query = ''): Promise<URL> {
    const answer = await this.call('GET', `/auth/oidc/${issuer.id}/start${query}`);
    expect(answer.status, answer.text).toBe(303);
    return new URL(answer.headers.get('location') ?? '');
  }

  /** Does what the provider asks for; returns the path that the provider sends it back to. */
  async visit(issuer: TestIssuer, address: URL, login: string, cancel = false): Promise<string> {
    const { pathname, search } = await issuer.visit(address.href, login, { jar: this.jar, cancel });
    return pathname + search;
  }

  /** Signs in, and returns the answer to the browser that comes back. */
  async signIn(issuer: TestIssuer, login: string, query = ''): Promise<Answer<{ code: string }>> {
    return await this.call('GET', await this.visit(issuer, await this.start(issuer, query), login));
  }
}
