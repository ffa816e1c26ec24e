// Generated from openapi.yaml by `npm run generate`. Do not edit.

import { type Client, type ClientMeta, type Options as Options2, type RequestResult, type TDataShape, urlSearchParamsBodySerializer } from '../../src/client/operation.ts';
import type { AggregateEntitiesData, AggregateEntitiesResponses, ChangePasswordData, ChangePasswordResponses, CheckOwnPermissionData, CheckOwnPermissionResponses, CreateEntitiesData, CreateEntitiesResponses, CreateEntityData, CreateEntityResponses, CreateKeyData, CreateKeyResponses, CreateSessionData, CreateSessionResponses, DeleteEntityData, DeleteEntityResponses, DeleteEntityTypeData, DeleteEntityTypeResponses, DescribeEntityData, DescribeEntityResponses, EndSessionData, EndSessionResponses, ExportEntitiesData, ExportEntitiesResponses, ExportQueryData, ExportQueryResponses, FinishOpenIdSignInData, GetEntityData, GetEntityResponses, GetEntityTypeData, GetEntityTypeResponses, GetSessionData, GetSessionResponses, ImportEntitiesData, ImportEntitiesResponses, InitiateOpenIdSignInData, LinkIdentityData, LinkIdentityResponses, ListEntitiesData, ListEntitiesResponses, ListEntityTypesData, ListEntityTypesResponses, ListIdentitiesData, ListIdentitiesResponses, ListIssuersData, ListIssuersResponses, ListKeysData, ListKeysResponses, ListProfilesData, ListProfilesResponses, ListSessionsData, ListSessionsResponses, ListVersionsData, ListVersionsResponses, LogoutFromProviderData, LogoutFromProviderResponses, PlanEntityTypeData, PlanEntityTypeResponses, PutEntityTypeData, PutEntityTypeResponses, QueryEntitiesData, QueryEntitiesResponses, RefreshSessionData, RefreshSessionResponses, RestoreEntityData, RestoreEntityResponses, RevokeKeyData, RevokeKeyResponses, RevokeOtherSessionsData, RevokeOtherSessionsResponses, RevokeSessionData, RevokeSessionResponses, RotateKeyData, RotateKeyResponses, RunBatchData, RunBatchResponses, SelectDefaultProfileData, SelectDefaultProfileResponses, SelectProfileData, SelectProfileResponses, StartOpenIdSignInData, UnlinkIdentityData, UnlinkIdentityResponses, UpdateEntityData, UpdateEntityResponses, UpsertEntityData, UpsertEntityResponses } from './types.gen.ts';

export type Options<TData extends TDataShape = TDataShape> = Options2<TData> & {
    /**
     * You can provide a client instance returned by `createClient()` instead of
     * individual options. This might be also useful if you want to implement a
     * custom client.
     */
    client: Client;
    /**
     * You can pass arbitrary values through the `meta` object. This can be
     * used to access values that aren't defined as part of the SDK function.
     */
    meta?: keyof ClientMeta extends never ? Record<string, unknown> : ClientMeta;
};

/**
 * Show session and server information
 *
 * Takes any of the four credentials; `session` is null for an API key and for a bearer token. `roles=1` adds the roles of the active
 * profile, `profiles=1` the user's profiles.
 *
 */
export const getSession = (options: Options<GetSessionData>): RequestResult<GetSessionResponses> => options.client.get<GetSessionResponses>({
    security: [
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        { name: 'X-API-Key', type: 'apiKey' },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/auth',
    ...options
});

/**
 * End the session
 *
 * With `logout=1` the session is ended and its cookie cleared; the answer is 204 also when there is no session. Browsers may only ask
 * from the service's own origin or a trusted one. Without `logout` nothing changes and the answer is the status `GET /auth` would have.
 *
 */
export const endSession = (options: Options<EndSessionData>): RequestResult<EndSessionResponses> => options.client.head<EndSessionResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/auth',
    ...options
});

/**
 * Authenticate and open a session
 *
 * Takes either `user` and `password`, or `oidcIssuer` and an access token of that issuer. The token comes in `Authorization: Bearer` or in
 * the field `access_token`, not in both. A form and JSON have the same fields. The answer sets the
 * session cookie. A live session that the request carries is ended.
 *
 * A wrong password, an unknown user and a disabled user get the same answer.
 *
 */
export const createSession = (options: Options<CreateSessionData>): RequestResult<CreateSessionResponses> => options.client.post<CreateSessionResponses>({
    url: '/auth',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Refresh the session
 *
 * Replaces the session's token and moves its idle deadline; the absolute deadline never moves. The replaced token serves requests in
 * flight for ten more seconds, unless the session ends or changes in another way before. It cannot refresh again: of concurrent
 * refreshes one wins and the others get 409. Using it later ends the session, since then two parties hold it.
 *
 */
export const refreshSession = (options: Options<RefreshSessionData>): RequestResult<RefreshSessionResponses> => options.client.post<RefreshSessionResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/refresh',
    ...options
});

/**
 * End the user's other sessions
 *
 * Ends every live session of the user but the one that asks. Once answered, none of their tokens works on any replica. API keys stay
 * valid.
 *
 */
export const revokeOtherSessions = (options: Options<RevokeOtherSessionsData>): RequestResult<RevokeOtherSessionsResponses> => options.client.delete<RevokeOtherSessionsResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/sessions',
    ...options
});

/**
 * List the user's own sessions
 *
 * Every session of the user that is live now, the newest first. A token is never shown.
 */
export const listSessions = (options: Options<ListSessionsData>): RequestResult<ListSessionsResponses> => options.client.get<ListSessionsResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/sessions',
    ...options
});

/**
 * End one of the user's own sessions
 *
 * Once answered, no token of the session works on any replica. Ending the session that asks is a logout and clears its cookie. A
 * session that is over, one of another user and one that does not exist get the same 404.
 *
 */
export const revokeSession = (options: Options<RevokeSessionData>): RequestResult<RevokeSessionResponses> => options.client.delete<RevokeSessionResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/sessions/{id}',
    ...options
});

/**
 * List the user's profiles
 *
 * The profiles the user may work under, the default one and the active one marked.
 */
export const listProfiles = (options: Options<ListProfilesData>): RequestResult<ListProfilesResponses> => options.client.get<ListProfilesResponses>({
    security: [
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        { name: 'X-API-Key', type: 'apiKey' },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/auth/profiles',
    ...options
});

/**
 * Switch to the default profile
 *
 * From the next request on, only the roles of the user's default profile grant anything. The session's token is replaced. A user
 * without a default profile gets 404.
 *
 */
export const selectDefaultProfile = (options: Options<SelectDefaultProfileData>): RequestResult<SelectDefaultProfileResponses> => options.client.post<SelectDefaultProfileResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/profile',
    ...options
});

/**
 * Switch to a profile
 *
 * From the next request on, only the roles of the named profile grant anything. The session's token is replaced. A profile that is not
 * one of the user's and one that does not exist get the same 404.
 *
 */
export const selectProfile = (options: Options<SelectProfileData>): RequestResult<SelectProfileResponses> => options.client.post<SelectProfileResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/profile/{name}',
    ...options
});

/**
 * Explain what the caller may do
 *
 * Says how a request on an entity would be answered now: `status`, `code` and `faults` are those of the request, made by its own statements.
 * It changes nothing. `grants` says what each grant of the action finds on the entity.
 *
 * Without `key` it is about the name, and `rows` has the condition on entities. Without `action` each action is explained, in `actions`.
 * Without `set` the fields of a create are not judged, and an update changes nothing. `if-match` among the `limits` says that the request
 * also needs `If-Match`.
 *
 * An answer tells nothing that the requests of the caller do not tell. An entity that the caller may not read is explained like a missing one. A
 * finding that would tell of a hidden value is left out.
 *
 */
export const checkOwnPermission = (options: Options<CheckOwnPermissionData>): RequestResult<CheckOwnPermissionResponses> => options.client.post<CheckOwnPermissionResponses>({
    security: [
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        { name: 'X-API-Key', type: 'apiKey' },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/auth/permissions/check',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Change the password
 *
 * Needs the present password besides the session. The user's other sessions end in the same instant, this one goes on under a new
 * token. API keys stay valid.
 *
 */
export const changePassword = (options: Options<ChangePasswordData>): RequestResult<ChangePasswordResponses> => options.client.post<ChangePasswordResponses>({
    ...urlSearchParamsBodySerializer,
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/password',
    ...options,
    headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...options.headers
    }
});

/**
 * List the user's own API keys
 *
 * Every key of the user that is live now, the newest first. The keys themselves are not kept and cannot be shown again.
 */
export const listKeys = (options: Options<ListKeysData>): RequestResult<ListKeysResponses> => options.client.get<ListKeysResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/keys',
    ...options
});

/**
 * Create an API key
 *
 * The key is in the answer and nowhere else: the service stores its hash alone. It acts as the user under the given profile. Without one
 * it acts under the profile that is the user's default when the key is used. At every moment it may do what both the profile's roles and
 * the scopes allow. Scopes that the profile does not allow now are refused.
 *
 * Needs a session signed in within the last 15 minutes, with a password or at an OpenID provider. A session opened with an access token
 * makes no keys. A user has at most 25 live keys.
 *
 */
export const createKey = (options: Options<CreateKeyData>): RequestResult<CreateKeyResponses> => options.client.post<CreateKeyResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/keys',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Revoke one of the user's own API keys
 *
 * Once answered, the key works on no replica. A revoked key, one of another user and one that does not exist get the same 404.
 * Needs a session signed in within the last 15 minutes.
 *
 */
export const revokeKey = (options: Options<RevokeKeyData>): RequestResult<RevokeKeyResponses> => options.client.delete<RevokeKeyResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/keys/{id}',
    ...options
});

/**
 * Replace one of the user's own API keys
 *
 * Makes a new key with the name, profile and scopes of the old one, which lives as long as the old one was made to. The old key goes on
 * for the overlap, though never beyond its own expiry, so that those who use it can change over. It can be replaced once.
 *
 * Needs a session signed in within the last 15 minutes. During the overlap both keys count among the 25 live ones.
 *
 */
export const rotateKey = (options: Options<RotateKeyData>): RequestResult<RotateKeyResponses> => options.client.post<RotateKeyResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/keys/{id}/rotate',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the providers to sign in at
 *
 * The trusted issuers that a user can sign in at with a browser, for a page to offer them. A link to `startUrl` is all it takes; the
 * parameters of `startOpenIdSignIn` may be added.
 *
 */
export const listIssuers = (options: Options<ListIssuersData>): RequestResult<ListIssuersResponses> => options.client.get<ListIssuersResponses>({ url: '/auth/issuers', ...options });

/**
 * Sign in at a provider
 *
 * Sends the browser to the provider's login page: authorization code flow with PKCE, state and nonce. The browser has ten minutes to
 * come back, by the cookie that is set here.
 *
 * A provider or another party can begin the sign-in too (OpenID Connect Core, section 4): register this address as the
 * `initiate_login_uri`. Such a request has `iss`, and its unknown parameters are ignored.
 *
 * A browser, which accepts `text/html`, gets a problem as a page with links.
 *
 */
export const startOpenIdSignIn = (options: Options<StartOpenIdSignInData>): RequestResult<unknown> => options.client.get<unknown>({ url: '/auth/oidc/{issuer}/start', ...options });

/**
 * Begin a sign-in for another party
 *
 * A provider or another party begins the sign-in with a form (OpenID Connect Core, section 4). The browser goes on to `GET` of this address, with
 * the fields as its parameters. Further fields are ignored, as the standard asks.
 *
 */
export const initiateOpenIdSignIn = (options: Options<InitiateOpenIdSignInData>): RequestResult<unknown> => options.client.post<unknown>({
    ...urlSearchParamsBodySerializer,
    url: '/auth/oidc/{issuer}/start',
    ...options,
    headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...options.headers
    }
});

/**
 * Come back from a provider
 *
 * Where the provider sends the browser back to, and the one redirect URI that is registered there. Opens a session for the user who is
 * linked to the provider's issuer and subject, and ends a live one that the request carries. Each start can be finished once, by the
 * browser that began it, within ten minutes; whatever the answer is, it cannot be finished again.
 *
 * Besides `state` come `code` or `error` (RFC 6749, section 4.1.2), `iss` (RFC 9207), and what else the provider adds, which is ignored.
 *
 * What `linkIdentity` began links the identity to the user instead, and opens no session. It takes the session that began it: without
 * one it is 401, and 409 if the identity is another user's.
 *
 * A browser, which accepts `text/html`, gets a problem as a page with links: to start again, and back to the application.
 *
 */
export const finishOpenIdSignIn = (options: Options<FinishOpenIdSignInData>): RequestResult<unknown> => options.client.get<unknown>({ url: '/auth/oidc/{issuer}/callback', ...options });

/**
 * Link an identity at a provider to the user
 *
 * Begins a sign-in at the provider like `startOpenIdSignIn`, which links the identity to the user of this session when the browser comes
 * back: then the user can sign in by it. The page sends the browser to `url`.
 *
 * Needs a session signed in within the last 15 minutes, and has the provider ask its user to sign in anew.
 *
 */
export const linkIdentity = (options: Options<LinkIdentityData>): RequestResult<LinkIdentityResponses> => options.client.post<LinkIdentityResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/oidc/{issuer}/link',
    ...options
});

/**
 * List the identities that are linked to the user
 *
 * Every identity at an issuer by which the user can sign in, or whose access tokens act as the user; the newest link first. Shows links of
 * issuers that are no longer trusted too: they work again if the operator trusts the issuer again.
 *
 */
export const listIdentities = (options: Options<ListIdentitiesData>): RequestResult<ListIdentitiesResponses> => options.client.get<ListIdentitiesResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/identities',
    ...options
});

/**
 * Remove the link of an identity to the user
 *
 * Removes the link and ends the sessions that were opened through the identity. Once answered, none of their tokens works on any replica,
 * and no access token of the identity acts as the user. If the session that asks was opened through the identity, it ends too and its cookie
 * is cleared. A link of another user and one that does not exist get the same 404.
 *
 * The last way to sign in cannot be removed: a user without a password who has no other link to an issuer to sign in at gets
 * 409 `last-sign-in-method`. API keys stay valid. Needs a session signed in within the last 15 minutes.
 *
 */
export const unlinkIdentity = (options: Options<UnlinkIdentityData>): RequestResult<UnlinkIdentityResponses> => options.client.delete<UnlinkIdentityResponses>({
    security: [{
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/auth/identities/{id}',
    ...options
});

/**
 * End sessions that are over at the provider
 *
 * Called by the provider, not by users (OpenID Connect Back-Channel Logout 1.0): ends the sessions that were opened through the provider's
 * session which the logout token names (`sid`), or through any of its subject (`sub`). Once answered, none of their tokens works on any
 * replica. A token that names nothing that is live is answered likewise.
 *
 */
export const logoutFromProvider = (options: Options<LogoutFromProviderData>): RequestResult<LogoutFromProviderResponses> => options.client.post<LogoutFromProviderResponses>({
    ...urlSearchParamsBodySerializer,
    url: '/auth/oidc/{issuer}/backchannel-logout',
    ...options,
    headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...options.headers
    }
});

/**
 * List entities
 *
 * The entities of the name that the caller may read, page by page: `next` is the `cursor` of the next page and null at the end. A page
 * may have fewer items than `limit`, even none, and still a `next`. The reason is that a request reads 20,000 entities at most, or 5,000
 * if the filter tests their fields, and sends 8 MiB at most. Rights count anew on each page.
 *
 * With `deleted=only` the entities in the trash are listed: what was deleted of a type with `x-soft-delete`. The caller needs `read` and `update`, and
 * sees those that it could restore. `search` has no index there, so it is refused.
 *
 * An entity that exists throughout, and keeps the values that the list is sorted by, comes exactly once. A list is no snapshot. What
 * would cost too much is 422 `query-too-expensive`. A query that takes PostgreSQL too long is 503 `busy`; sending it again may help.
 *
 */
export const listEntities = (options: Options<ListEntitiesData>): RequestResult<ListEntitiesResponses> => options.client.get<ListEntitiesResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}',
    ...options
});

/**
 * Create an entity
 *
 * The body is the fields, a JSON object. The service chooses the key, which is positive and never used again. If the name has a declared
 * type, the fields must fit its JSON Schema, else 422. If the service takes only declared names, others are 404. A type can
 * declare fields unique: a value that another entity has is 409 `unique-conflict`. A type can declare references: a key of no entity is 422
 * `reference-not-found`.
 *
 * With an `Idempotency-Key` the client can repeat the request for 24 hours. The same key of the same user with the same body creates
 * nothing. The answer is that of the first request, marked by `Idempotency-Replayed`, even if the entity has changed since. With another
 * body it is 422, and while the first request is under way 409. A refusal is not stored, so a refused request can be sent again.
 * The answer has the values that grants have set then; it is 410 if they are no longer stored.
 *
 */
export const createEntity = (options: Options<CreateEntityData>): RequestResult<CreateEntityResponses> => options.client.post<CreateEntityResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List entities by a query in the body
 *
 * The same as `listEntities` with the parameters as one JSON object, for filters that are too long for a URL. It changes nothing, so it
 * may be repeated. The answer, cursors included, is that of `listEntities` with the same parameters.
 *
 */
export const queryEntities = (options: Options<QueryEntitiesData>): RequestResult<QueryEntitiesResponses> => options.client.post<QueryEntitiesResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/query',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Aggregate entities
 *
 * Counts, sums, averages and extremes over the entities of the name that the caller may read, in groups. Groups and measures are made of
 * fields that the `x-index`, `x-unique` or `x-references` of the declared type gives an index. The filter may have any field. It changes
 * nothing, so it may be repeated. An aggregation that takes PostgreSQL more than five seconds is 503 `busy`; sending it again may help.
 *
 */
export const aggregateEntities = (options: Options<AggregateEntitiesData>): RequestResult<AggregateEntitiesResponses> => options.client.post<AggregateEntitiesResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/aggregate',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Create many entities
 *
 * Creates an entity for each item, in one transaction: all of them or none. The answer names the faults of all items, up to 20, by pointers that begin with the
 * index of the item: `/17/email`. If all items fit the declared type, two kinds of faults are left. A unique value belongs to another
 * entity or to two items, or a reference leads to no entity. The body may have 4 MiB and 50,000 values.
 *
 */
export const createEntities = (options: Options<CreateEntitiesData>): RequestResult<CreateEntitiesResponses> => options.client.post<CreateEntitiesResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/bulk',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Create an entity, or update the one with the same value
 *
 * `by` names the fields of a rule in `x-unique` of the declared type, and the body has a value for each. If an entity has these values, the body
 * is merged into it as `updateEntity` does; otherwise the entity is created with these fields. Of concurrent requests one creates it, and the
 * others change it. A merge that changes nothing is 200 with the same ETag: it makes no version, so the request can be repeated.
 *
 * With `If-None-Match: *` the request only creates, with `If-Match` it only updates, else 412. The caller needs `create` and `update`, or only
 * the one that these headers leave. An entity that the caller may not update is 409 `unique-conflict`, as in a create.
 *
 */
export const upsertEntity = (options: Options<UpsertEntityData>): RequestResult<UpsertEntityResponses> => options.client.post<UpsertEntityResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/upsert',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete an entity
 *
 * Its key is never given again. If its type has `x-soft-delete`, the entity goes to the trash and can be restored for some time. A second DELETE is 404. With `If-Match` the entity is deleted only if its version is still that one, else
 * 412. A declared type can require `If-Match`, and a request without is then 428.
 *
 * If other entities refer to it, their types decide: it is not deleted (`restrict`, 409 `still-referenced`), they are deleted too
 * (`cascade`), or their references become null (`set-null`). All of it happens, or nothing. The caller needs no right on those entities.
 * If more than 1,000 would be deleted or changed, the answer is 409 `still-referenced` with `too-many-referrers`. A purge does not have this
 * limit: it deletes and changes them in portions first, unless one restricts the deletion, or more than 1,000 refer to each other in a circle. If
 * that takes more than five seconds or fails, the answer has `partly-done` with the number. If it is 503, the same request goes on with the rest.
 *
 * With `purge=1` the entity leaves the trash for good, and all its versions lose their fields; the audit trail tells of it. The caller needs the action
 * `purge`. A live entity is deleted first, which needs `delete` too. Entities that are deleted with it are not purged. If nothing is stored of
 * the entity any more, the answer is 404.
 *
 */
export const deleteEntity = (options: Options<DeleteEntityData>): RequestResult<DeleteEntityResponses> => options.client.delete<DeleteEntityResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/{key}',
    ...options
});

/**
 * Retrieve an entity
 *
 * The entity as it stands. With `If-None-Match` and an unchanged version the answer is 304 without a body. With `include` the entities
 * that it refers to come along, in `included` and `withheld`. Then the ETag is that of the whole answer; `If-Match` takes it as well.
 * With `version` it is the entity as it was in that version, also after its deletion, as long as its history has that version. No other
 * parameter goes along with `version`. With `asOf` it is the entity as it was in the last state that the service has stored at or before
 * that time. The service stores a state of whole transactions at most once a second. `Content-Location` names the position of the state, and
 * answers the same as long as the state is stored. With `deleted=only` it is the entity in the trash, for callers that may restore it: they have `read` and `update`.
 *
 */
export const getEntity = (options: Options<GetEntityData>): RequestResult<GetEntityResponses> => options.client.get<GetEntityResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/{key}',
    ...options
});

/**
 * Update an entity
 *
 * The body is a JSON merge patch (RFC 7396) of the fields: given members change, `null` removes, all others stay. With `If-Match` the
 * update happens only if the version is still that one, else 412: of concurrent guarded updates one wins and nothing is lost. If the
 * name has a declared type, the merged fields must fit it, else 422. It is 409 `unique-conflict` if another entity has the value of a
 * unique field. A type can require `If-Match`, and a request without is then 428.
 *
 * An update that changes nothing writes nothing: it is 200 with the present version and its ETag. So it is for each operation of a batch and each
 * restore.
 *
 * The answer has the entity, so the caller needs `read` too, by its rights and by the scopes of its credential. A new reference needs `label` or `read` on the entity that it leads to, else it is 422
 * `reference-not-found`, as one that does not exist.
 *
 * An entity that the caller may read and not update is 403. One that it may not read is 404, like one that does not exist. `deleteEntity` and
 * `restoreEntity` do the same.
 *
 */
export const updateEntity = (options: Options<UpdateEntityData>): RequestResult<UpdateEntityResponses> => options.client.post<UpdateEntityResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/{key}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the versions of an entity
 *
 * The versions of the entity, newest first, with the user and the time of each change. The history of a deleted entity ends with its deletion, which
 * has the fields and the version of the last one. Versions are kept for 7 days, or as long as `x-history` of the declared type says. The caller
 * needs `read`, and sees the history of the entities that it may read, or could read until they were deleted.
 *
 */
export const listVersions = (options: Options<ListVersionsData>): RequestResult<ListVersionsResponses> => options.client.get<ListVersionsResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/{key}/history',
    ...options
});

/**
 * Restore a version of an entity
 *
 * Gives the entity the fields that it had in an earlier version, as a new version unless it has the same ones. Nothing of the history is lost, so a restore can be undone
 * by another one. With `If-Match` it happens only if the version is still that one, else 412. The fields must fit the declared type as it is
 * now. The caller needs `update` and `read`. A JSON merge patch (RFC 7396) in the body changes the fields before they are checked, so that
 * fields which fit the type no more can be restored too.
 *
 * An entity in the trash comes back under its key, as the next version; without `version` with the fields that it had last. Entities that were
 * deleted with it are restored by themselves. One that is in the trash no more, or never was, is 404. A live entity needs `version`: 400.
 *
 */
export const restoreEntity = (options: Options<RestoreEntityData>): RequestResult<RestoreEntityResponses> => options.client.post<RestoreEntityResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/{key}/restore',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Run several operations
 *
 * Runs up to 100 operations in their order. By default they are one transaction: the first refusal is the answer, its pointers lead into the
 * operations, and nothing is written. With `atomic: false` each is a transaction of its own, and the answer has the outcome of each. The rights
 * of all operations are checked before the first one runs. An entity that the caller may read and not change is 403 in its turn. `{"$ref": "o1"}` in a field that the declared type has as a reference stands for the
 * key of the create with the id `o1`: of an earlier one, or in one transaction of a later one too. With `Prefer: dry-run` one transaction is
 * tried and nothing is written; keys in such an answer are never given again.
 *
 * With an `Idempotency-Key` a repeat gets the first answer again. An entity that the history no longer has in that version, or that the caller may
 * not reach any more, is left out of it. With `atomic: false` each operation has the key for itself: a repeat does those that were refused before.
 * A dry run takes no notice of the key.
 *
 */
export const runBatch = (options: Options<RunBatchData>): RequestResult<RunBatchResponses> => options.client.post<RunBatchResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/batch',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Export entities
 *
 * The entities of the name that the caller may read, by key or in the order of `sort`, as a stream. An entity is sent as it is when the stream
 * reaches it; the export is no snapshot. Rights count anew on each part.
 *
 * **NDJSON**: each line is an `Entity` with one more member, `database`: the name of the database, by which an import elsewhere sees that the keys are not
 * its own. The last line is `{"$complete":true,"entities":1000,"position":"512","database":"db5f0c2a9e71b3d684"}`: the export has all changes up to
 * this position, which `getEntity` takes as `asOf`, and may have later ones. It has `"partial":true` too if the grants of the caller do not cover all
 * entities of the name. An export that has to end early says so in its last line: `$complete` is false, and `problem` has the reason.
 *
 * **CSV**: UTF-8 with a header. The first column is `$key`, then comes `$version` if the type has `x-if-match: required`, and one for each field of
 * the declared type, or of `fields`. Without `fields` the next column is `$fields`: a JSON object of what has no other column. The last column has no cells, and its
 * header names the database: `$database=db5f0c2a9e71b3d684`. An empty cell is a
 * missing field, `\N` is null, `""` is the empty text. Arrays, and fields of several types, are JSON in the cell. An export that has to end early ends the connection before the last chunk.
 * Every HTTP client reports that as an error.
 *
 */
export const exportEntities = (options: Options<ExportEntitiesData>): RequestResult<ExportEntitiesResponses> => options.client.get<ExportEntitiesResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/export',
    ...options
});

/**
 * Export entities by a query in the body
 *
 * The same as `exportEntities` with the parameters as one JSON object, for filters that are too long for a URL. It changes nothing, so it may be
 * repeated.
 *
 */
export const exportQuery = (options: Options<ExportQueryData>): RequestResult<ExportQueryResponses> => options.client.post<ExportQueryResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/export',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Import entities
 *
 * Creates an entity of each row of a file of up to 64 MiB. With `by` it updates the entity that has the same values, so that the file can
 * be imported again. Up to 500 rows are one transaction. A row that is refused does not stop the others. Rights are checked before the first row is written, and anew for each
 * transaction: `create`, and with `by` also `read` and `update`.
 *
 * The answer begins while the file is still being sent. Each of its lines is a JSON object (NDJSON): for a row that is refused
 * `{"row":17,"status":422,"code":"validation-failed","errors":[…]}`, and after each transaction
 * `{"done":false,"row":500,"created":499,"updated":0,"unchanged":0,"failed":1,"removedFields":0}` with the last row whose outcome is known. The last
 * line has `"done":true`. Where the service reads from a standby too, these lines have a `consistencyToken`.
 *
 * - Consecutive rows that are refused for the same reason are one line, with the last of them as `toRow`. It comes when the next row is another one.
 * - `duplicateOf` is the row of the same file that has the same unique value. The second row is refused.
 * - `removedFields` counts the members of objects that updates have removed.
 * - `ignored` names the columns that count for nothing: those called `$ignore`, `$key` without `by=$key`, `$version` without `by`, and other names
 * of the envelope.
 * - If the import has to end early, its last line has `"done":false` and the `problem`. It is `too-many-refusals` after 1,000 lines of refused rows
 * or 100,000 such rows, and `too-many-rows` after 2,000,000 unique values. If the outcome of a COMMIT is unknown, `uncertainTo` is the last row
 * that it may have written.
 *
 * **NDJSON**: each line has the fields of an entity, or an entity as `exportEntities` writes it, of which the fields count, and with `by=$key` the
 * key and the version. **CSV**: UTF-8 with a header, as `exportEntities` writes it. The declared type decides what a cell is; a field that it does
 * not name is a text. Rows of empty cells, and columns of empty cells without a name, are skipped.
 *
 * With `by`, a row that has a version, in the column `$version` of CSV, changes the entity in this version alone, else it is refused with 412. A type
 * with `x-if-match: required` takes no update without it.
 *
 * A file that `exportEntities` has written names its database. In a file of another database, references by key are refused with the fault
 * `other-database`, and with `by` also the key and the version, where they count. Name the targets of references by values: `customer.number`.
 *
 */
export const importEntities = (options: Options<ImportEntitiesData>): RequestResult<ImportEntitiesResponses> => options.client.post<ImportEntitiesResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/import',
    ...options,
    headers: {
        'Content-Type': 'application/x-ndjson',
        ...options.headers
    }
});

/**
 * List the entity types
 *
 * The types of the names on which the caller has the action `type`, by name, without their documents.
 */
export const listEntityTypes = (options: Options<ListEntityTypesData>): RequestResult<ListEntityTypesResponses> => options.client.get<ListEntityTypesResponses>({
    security: [{ name: 'X-API-Key', type: 'apiKey' }, {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/rest/entity-type',
    ...options
});

/**
 * Delete an entity type
 *
 * The entities of the name stay and can have any fields from now on. If other types refer to them, the answer is 409
 * `type-conflict`. `confirm` is the digest of the plan of the deletion, so that the service does what the caller has read. Without it, or
 * if the type has changed since, the answer is 409 `confirmation-required`.
 *
 */
export const deleteEntityType = (options: Options<DeleteEntityTypeData>): RequestResult<DeleteEntityTypeResponses> => options.client.delete<DeleteEntityTypeResponses>({
    security: [{ name: 'X-API-Key', type: 'apiKey' }, {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/rest/entity-type/{name}',
    ...options
});

/**
 * Retrieve an entity type
 *
 * The type with its document, for callers with the action `type` on the name. With `If-None-Match` and an unchanged type the answer is 304
 * without a body.
 *
 */
export const getEntityType = (options: Options<GetEntityTypeData>): RequestResult<GetEntityTypeResponses> => options.client.get<GetEntityTypeResponses>({
    security: [{ name: 'X-API-Key', type: 'apiKey' }, {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/rest/entity-type/{name}',
    ...options
});

/**
 * Declare or change an entity type
 *
 * The body is the type's document, a JSON Schema (2020-12) of the fields. With `If-None-Match: *` the name must have no type, with `If-Match` its
 * type must have this revision, else 412; without either header 428. Stored entities that do not fit are 409 `type-conflict`, and nothing
 * changes: the pointer of each fault begins with the entity's key. With `allowUnfit=1` they stay as they are, can be read, and must fit at
 * their next update. A document that is in force already is 200 and changes nothing. For a change with the effect `check`, the caller needs
 * `read` on all entities of the name: 403. With `allowUnfit=1` it checks none and needs no `read`.
 *
 * Stored entities must fit new rules without exception: two that share a value of `x-unique`, and one that refers to no entity, are 409. Indexes are built
 * while entities are written; until the end the old type is in force. More than 100,000 entities are 409, and are a matter for the operator's
 * command line. If the type is being built already, the answer is 503 after five seconds. The caller needs `read` on all entities of a name that
 * `x-references` is the first to name: 403.
 *
 * With a shorter `x-history` versions are lost, and a change of `x-sensitive` hides a field or shows it: such a change needs `confirm`, the digest of its
 * plan, else 409 `confirmation-required`. A change that shows a field needs `read` of it in all entities of the name, else 403. A new `x-sensitive` is
 * 409 `older-version` while processes of an older version run, which would show the field.
 *
 * The type counts for the next request on every replica. Where the operator's files declare the types, the answer is 403.
 *
 */
export const putEntityType = (options: Options<PutEntityTypeData>): RequestResult<PutEntityTypeResponses> => options.client.put<PutEntityTypeResponses>({
    security: [{ name: 'X-API-Key', type: 'apiKey' }, {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/rest/entity-type/{name}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Plan a change of an entity type
 *
 * Says what a change would do, and changes nothing. If a step has the effect `check` or `build`, every stored entity of the name is checked
 * against the new document and its rules. The caller then needs `read` on all entities of the name, else 403. More than 100,000 entities
 * are 409, and the operator plans the change with the administration command. A user's plans and changes of types run one after the other.
 *
 */
export const planEntityType = (options: Options<PlanEntityTypeData>): RequestResult<PlanEntityTypeResponses> => options.client.post<PlanEntityTypeResponses>({
    security: [{ name: 'X-API-Key', type: 'apiKey' }, {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        }],
    url: '/rest/entity-type/{name}/plan',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Describe the entities of a name
 *
 * Describes the declared type for user interfaces: fields, options, references, limits and the form, with titles in the caller's language. It is
 * for callers with any right on the name. Fields that the caller may neither read nor write are absent. A name without a declared type is 404.
 * The language is that of the session; for a session in English, the default, it is the best of `Accept-Language`.
 *
 */
export const describeEntity = (options: Options<DescribeEntityData>): RequestResult<DescribeEntityResponses> => options.client.get<DescribeEntityResponses>({
    security: [
        { name: 'X-API-Key', type: 'apiKey' },
        {
            in: 'cookie',
            name: '__Host-sid',
            type: 'apiKey'
        },
        {
            key: 'oauth2',
            scheme: 'bearer',
            type: 'http'
        },
        {
            key: 'openId',
            scheme: 'bearer',
            type: 'http'
        }
    ],
    url: '/rest/entity/{name}/describe',
    ...options
});
