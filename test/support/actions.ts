/** Changes that callers, providers and administrators make to credentials and rights, each through its own interface. */
import type { components } from '../../generated/api.ts';
import { AdminCommand, type Run } from './admin.ts';
import { loginClient, type TestIssuer } from './issuer.ts';
import { password, type Answer, type Call, type ProblemBody, type TestService } from './service.ts';

/** A password that the policy accepts in place of the tests' usual one. */
export const nextPassword = 'seven quiet lanterns drift north';

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

export class Actions {
  readonly #service: () => TestService;

  constructor(service: () => TestService) {
    this.#service = service;
  }

  #send<T = ProblemBody>(method: string, path: string, call: Call): Promise<Answer<T>> {
    return this.#service().call<T>(method, path, call);
  }

  changePassword(cookie: string): Promise<Answer> {
    const form = { 'current-password': password, 'set-password': nextPassword, 'confirm-password': nextPassword };
    return this.#send('POST', '/auth/password', { cookie, form });
  }

  selectProfile(cookie: string, name?: string): Promise<Answer> {
    return this.#send('POST', name === undefined ? '/auth/profile' : `/auth/profile/${name}`, { cookie });
  }

  refresh(cookie: string): Promise<Answer> {
    return this.#send('POST', '/auth/refresh', { cookie });
  }

  logOut(cookie: string): Promise<Answer> {
    return this.#send('HEAD', '/auth?logout=1', { cookie });
  }

  revokeSession(cookie: string, id: string): Promise<Answer> {
    return this.#send('DELETE', `/auth/sessions/${id}`, { cookie });
  }

  revokeOtherSessions(cookie: string): Promise<Answer> {
    return this.#send('DELETE', '/auth/sessions', { cookie });
  }

  createKey(cookie: string): Promise<Answer<components['schemas']['NewKey']>> {
    return this.#send('POST', '/auth/keys', { cookie, json: { name: 'made by a test' } });
  }

  revokeKey(cookie: string, id: string): Promise<Answer> {
    return this.#send('DELETE', `/auth/keys/${id}`, { cookie });
  }

  rotateKey(cookie: string, id: string): Promise<Answer> {
    return this.#send('POST', `/auth/keys/${id}/rotate`, { cookie, json: {} });
  }

  /** The id of the first identity that is linked to the user. */
  async identityOf(cookie: string): Promise<string> {
    const { body } = await this.#send<components['schemas']['IdentityList']>('GET', '/auth/identities', { cookie });
    return body.identities[0]?.id ?? '';
  }

  unlinkIdentity(cookie: string, id: string): Promise<Answer> {
    return this.#send('DELETE', `/auth/identities/${id}`, { cookie });
  }

  signIn(user: string, cookie?: string): Promise<Answer> {
    return this.#send('POST', '/auth', { form: { user, password }, cookie });
  }

  /** Opens a session with a token that the issuer signs for `subject`. */
  async signInByToken(issuer: TestIssuer, subject: string, claims: Record<string, unknown> = {}): Promise<Answer> {
    const access_token = await issuer.mint({ claims: { sub: subject, ...claims } });
    return await this.#send('POST', '/auth', { form: { oidcIssuer: issuer.id, access_token } });
  }

  /** The provider ends all sessions that `subject` has opened through it. */
  async logOutByProvider(issuer: TestIssuer, subject: string): Promise<Answer> {
    const claims = { sub: subject, aud: loginClient.id, events: { [logoutEvent]: {} }, client_id: undefined, scope: undefined };
    const logout_token = await issuer.mint({ claims, header: { typ: 'logout+jwt' } });
    return await this.#send('POST', `/auth/oidc/${issuer.id}/backchannel-logout`, { form: { logout_token } });
  }

  administer(words: readonly string[], input = ''): Promise<Run> {
    return new AdminCommand(this.#service().databaseUrl).run(words, input);
  }
}
