/** The parts of the process that this room needs. */
import type { AttributeRegistry } from '../accounts/attribute-registry.ts';
import type { PrincipalCache } from '../authn/principal-cache.ts';
import type { RuleBook } from '../authn/rule-book.ts';
import type { Config } from '../config/settings.ts';
import type { AttemptContext } from '../credentials/context.ts';
import type { Listener } from '../database/notifications.ts';
import type { Store } from '../database/port.ts';

/** For opening, changing and ending sessions. */
export interface SessionContext {
  config: Config;
  /** The database. */
  store: Store;
  principals: PrincipalCache;
  /** The rules among the grants of callers. */
  rules: Pick<RuleBook, 'complete'>;
  listener: Listener;
}

/** For signing in by a password. */
export interface LoginContext extends SessionContext, AttemptContext {}

/** For showing the service to a client. */
export interface SessionInfoContext extends Pick<SessionContext, 'config' | 'store'> {
  /** The trusted issuers of access tokens, and those at which users sign in with a browser. */
  issuers: { readonly size: number; readonly providers: { readonly length: number } };
  /** The declared attributes, and the values of callers. */
  attributes: AttributeRegistry;
  /** The version of the contract. */
  version: string;
}
