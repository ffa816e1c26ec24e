// Generated from openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
    "/auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show session and server information
         * @description Takes any of the four credentials; `session` is null for an API key and for a bearer token. `roles=1` adds the roles of the active
         *     profile, `profiles=1` the user's profiles.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Authenticate and open a session
         * @description Takes either `user` and `password`, or `oidcIssuer` and an access token of that issuer. The token comes in `Authorization: Bearer` or in
         *     the field `access_token`, not in both. A form and JSON have the same fields. The answer sets the
         *     session cookie. A live session that the request carries is ended.
         *
         *     A wrong password, an unknown user and a disabled user get the same answer.
         */
        post: operations["createSession"];
        delete?: never;
        options?: never;
        /**
         * End the session
         * @description With `logout=1` the session is ended and its cookie cleared; the answer is 204 also when there is no session. Browsers may only ask
         *     from the service's own origin or a trusted one. Without `logout` nothing changes and the answer is the status `GET /auth` would have.
         */
        head: operations["endSession"];
        patch?: never;
        trace?: never;
    };
    "/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Refresh the session
         * @description Replaces the session's token and moves its idle deadline; the absolute deadline never moves. The replaced token serves requests in
         *     flight for ten more seconds, unless the session ends or changes in another way before. It cannot refresh again: of concurrent
         *     refreshes one wins and the others get 409. Using it later ends the session, since then two parties hold it.
         */
        post: operations["refreshSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the user's own sessions
         * @description Every session of the user that is live now, the newest first. A token is never shown.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /**
         * End the user's other sessions
         * @description Ends every live session of the user but the one that asks. Once answered, none of their tokens works on any replica. API keys stay
         *     valid.
         */
        delete: operations["revokeOtherSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of the user's own sessions
         * @description Once answered, no token of the session works on any replica. Ending the session that asks is a logout and clears its cookie. A
         *     session that is over, one of another user and one that does not exist get the same 404.
         */
        delete: operations["revokeSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/profiles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the user's profiles
         * @description The profiles the user may work under, the default one and the active one marked.
         */
        get: operations["listProfiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switch to the default profile
         * @description From the next request on, only the roles of the user's default profile grant anything. The session's token is replaced. A user
         *     without a default profile gets 404.
         */
        post: operations["selectDefaultProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/profile/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switch to a profile
         * @description From the next request on, only the roles of the named profile grant anything. The session's token is replaced. A profile that is not
         *     one of the user's and one that does not exist get the same 404.
         */
        post: operations["selectProfile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/permissions/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain what the caller may do
         * @description Says how a request on an entity would be answered now: `status`, `code` and `faults` are those of the request, made by its own statements.
         *     It changes nothing. `grants` says what each grant of the action finds on the entity.
         *
         *     Without `key` it is about the name, and `rows` has the condition on entities. Without `action` each action is explained, in `actions`.
         *     Without `set` the fields of a create are not judged, and an update changes nothing. `if-match` among the `limits` says that the request
         *     also needs `If-Match`.
         *
         *     An answer tells nothing that the requests of the caller do not tell. An entity that the caller may not read is explained like a missing one. A
         *     finding that would tell of a hidden value is left out.
         */
        post: operations["checkOwnPermission"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the password
         * @description Needs the present password besides the session. The user's other sessions end in the same instant, this one goes on under a new
         *     token. API keys stay valid.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the user's own API keys
         * @description Every key of the user that is live now, the newest first. The keys themselves are not kept and cannot be shown again.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The key is in the answer and nowhere else: the service stores its hash alone. It acts as the user under the given profile. Without one
         *     it acts under the profile that is the user's default when the key is used. At every moment it may do what both the profile's roles and
         *     the scopes allow. Scopes that the profile does not allow now are refused.
         *
         *     Needs a session signed in within the last 15 minutes, with a password or at an OpenID provider. A session opened with an access token
         *     makes no keys. A user has at most 25 live keys.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke one of the user's own API keys
         * @description Once answered, the key works on no replica. A revoked key, one of another user and one that does not exist get the same 404.
         *     Needs a session signed in within the last 15 minutes.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace one of the user's own API keys
         * @description Makes a new key with the name, profile and scopes of the old one, which lives as long as the old one was made to. The old key goes on
         *     for the overlap, though never beyond its own expiry, so that those who use it can change over. It can be replaced once.
         *
         *     Needs a session signed in within the last 15 minutes. During the overlap both keys count among the 25 live ones.
         */
        post: operations["rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/issuers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the providers to sign in at
         * @description The trusted issuers that a user can sign in at with a browser, for a page to offer them. A link to `startUrl` is all it takes; the
         *     parameters of `startOpenIdSignIn` may be added.
         */
        get: operations["listIssuers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/{issuer}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sign in at a provider
         * @description Sends the browser to the provider's login page: authorization code flow with PKCE, state and nonce. The browser has ten minutes to
         *     come back, by the cookie that is set here.
         *
         *     A provider or another party can begin the sign-in too (OpenID Connect Core, section 4): register this address as the
         *     `initiate_login_uri`. Such a request has `iss`, and its unknown parameters are ignored.
         *
         *     A browser, which accepts `text/html`, gets a problem as a page with links.
         */
        get: operations["startOpenIdSignIn"];
        put?: never;
        /**
         * Begin a sign-in for another party
         * @description A provider or another party begins the sign-in with a form (OpenID Connect Core, section 4). The browser goes on to `GET` of this address, with
         *     the fields as its parameters. Further fields are ignored, as the standard asks.
         */
        post: operations["initiateOpenIdSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/{issuer}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Come back from a provider
         * @description Where the provider sends the browser back to, and the one redirect URI that is registered there. Opens a session for the user who is
         *     linked to the provider's issuer and subject, and ends a live one that the request carries. Each start can be finished once, by the
         *     browser that began it, within ten minutes; whatever the answer is, it cannot be finished again.
         *
         *     Besides `state` come `code` or `error` (RFC 6749, section 4.1.2), `iss` (RFC 9207), and what else the provider adds, which is ignored.
         *
         *     What `linkIdentity` began links the identity to the user instead, and opens no session. It takes the session that began it: without
         *     one it is 401, and 409 if the identity is another user's.
         *
         *     A browser, which accepts `text/html`, gets a problem as a page with links: to start again, and back to the application.
         */
        get: operations["finishOpenIdSignIn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/{issuer}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Link an identity at a provider to the user
         * @description Begins a sign-in at the provider like `startOpenIdSignIn`, which links the identity to the user of this session when the browser comes
         *     back: then the user can sign in by it. The page sends the browser to `url`.
         *
         *     Needs a session signed in within the last 15 minutes, and has the provider ask its user to sign in anew.
         */
        post: operations["linkIdentity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the identities that are linked to the user
         * @description Every identity at an issuer by which the user can sign in, or whose access tokens act as the user; the newest link first. Shows links of
         *     issuers that are no longer trusted too: they work again if the operator trusts the issuer again.
         */
        get: operations["listIdentities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/identities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove the link of an identity to the user
         * @description Removes the link and ends the sessions that were opened through the identity. Once answered, none of their tokens works on any replica,
         *     and no access token of the identity acts as the user. If the session that asks was opened through the identity, it ends too and its cookie
         *     is cleared. A link of another user and one that does not exist get the same 404.
         *
         *     The last way to sign in cannot be removed: a user without a password who has no other link to an issuer to sign in at gets
         *     409 `last-sign-in-method`. API keys stay valid. Needs a session signed in within the last 15 minutes.
         */
        delete: operations["unlinkIdentity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oidc/{issuer}/backchannel-logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End sessions that are over at the provider
         * @description Called by the provider, not by users (OpenID Connect Back-Channel Logout 1.0): ends the sessions that were opened through the provider's
         *     session which the logout token names (`sid`), or through any of its subject (`sub`). Once answered, none of their tokens works on any
         *     replica. A token that names nothing that is live is answered likewise.
         */
        post: operations["logoutFromProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List entities
         * @description The entities of the name that the caller may read, page by page: `next` is the `cursor` of the next page and null at the end. A page
         *     may have fewer items than `limit`, even none, and still a `next`. The reason is that a request reads 20,000 entities at most, or 5,000
         *     if the filter tests their fields, and sends 8 MiB at most. Rights count anew on each page.
         *
         *     With `deleted=only` the entities in the trash are listed: what was deleted of a type with `x-soft-delete`. The caller needs `read` and `update`, and
         *     sees those that it could restore. `search` has no index there, so it is refused.
         *
         *     An entity that exists throughout, and keeps the values that the list is sorted by, comes exactly once. A list is no snapshot. What
         *     would cost too much is 422 `query-too-expensive`. A query that takes PostgreSQL too long is 503 `busy`; sending it again may help.
         */
        get: operations["listEntities"];
        put?: never;
        /**
         * Create an entity
         * @description The body is the fields, a JSON object. The service chooses the key, which is positive and never used again. If the name has a declared
         *     type, the fields must fit its JSON Schema, else 422. If the service takes only declared names, others are 404. A type can
         *     declare fields unique: a value that another entity has is 409 `unique-conflict`. A type can declare references: a key of no entity is 422
         *     `reference-not-found`.
         *
         *     With an `Idempotency-Key` the client can repeat the request for 24 hours. The same key of the same user with the same body creates
         *     nothing. The answer is that of the first request, marked by `Idempotency-Replayed`, even if the entity has changed since. With another
         *     body it is 422, and while the first request is under way 409. A refusal is not stored, so a refused request can be sent again.
         *     The answer has the values that grants have set then; it is 410 if they are no longer stored.
         */
        post: operations["createEntity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List entities by a query in the body
         * @description The same as `listEntities` with the parameters as one JSON object, for filters that are too long for a URL. It changes nothing, so it
         *     may be repeated. The answer, cursors included, is that of `listEntities` with the same parameters.
         */
        post: operations["queryEntities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/aggregate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Aggregate entities
         * @description Counts, sums, averages and extremes over the entities of the name that the caller may read, in groups. Groups and measures are made of
         *     fields that the `x-index`, `x-unique` or `x-references` of the declared type gives an index. The filter may have any field. It changes
         *     nothing, so it may be repeated. An aggregation that takes PostgreSQL more than five seconds is 503 `busy`; sending it again may help.
         */
        post: operations["aggregateEntities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create many entities
         * @description Creates an entity for each item, in one transaction: all of them or none. The answer names the faults of all items, up to 20, by pointers that begin with the
         *     index of the item: `/17/email`. If all items fit the declared type, two kinds of faults are left. A unique value belongs to another
         *     entity or to two items, or a reference leads to no entity. The body may have 4 MiB and 50,000 values.
         */
        post: operations["createEntities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/upsert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an entity, or update the one with the same value
         * @description `by` names the fields of a rule in `x-unique` of the declared type, and the body has a value for each. If an entity has these values, the body
         *     is merged into it as `updateEntity` does; otherwise the entity is created with these fields. Of concurrent requests one creates it, and the
         *     others change it. A merge that changes nothing is 200 with the same ETag: it makes no version, so the request can be repeated.
         *
         *     With `If-None-Match: *` the request only creates, with `If-Match` it only updates, else 412. The caller needs `create` and `update`, or only
         *     the one that these headers leave. An entity that the caller may not update is 409 `unique-conflict`, as in a create.
         */
        post: operations["upsertEntity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an entity
         * @description The entity as it stands. With `If-None-Match` and an unchanged version the answer is 304 without a body. With `include` the entities
         *     that it refers to come along, in `included` and `withheld`. Then the ETag is that of the whole answer; `If-Match` takes it as well.
         *     With `version` it is the entity as it was in that version, also after its deletion, as long as its history has that version. No other
         *     parameter goes along with `version`. With `asOf` it is the entity as it was in the last state that the service has stored at or before
         *     that time. The service stores a state of whole transactions at most once a second. `Content-Location` names the position of the state, and
         *     answers the same as long as the state is stored. With `deleted=only` it is the entity in the trash, for callers that may restore it: they have `read` and `update`.
         */
        get: operations["getEntity"];
        put?: never;
        /**
         * Update an entity
         * @description The body is a JSON merge patch (RFC 7396) of the fields: given members change, `null` removes, all others stay. With `If-Match` the
         *     update happens only if the version is still that one, else 412: of concurrent guarded updates one wins and nothing is lost. If the
         *     name has a declared type, the merged fields must fit it, else 422. It is 409 `unique-conflict` if another entity has the value of a
         *     unique field. A type can require `If-Match`, and a request without is then 428.
         *
         *     An update that changes nothing writes nothing: it is 200 with the present version and its ETag. So it is for each operation of a batch and each
         *     restore.
         *
         *     The answer has the entity, so the caller needs `read` too, by its rights and by the scopes of its credential. A new reference needs `label` or `read` on the entity that it leads to, else it is 422
         *     `reference-not-found`, as one that does not exist.
         *
         *     An entity that the caller may read and not update is 403. One that it may not read is 404, like one that does not exist. `deleteEntity` and
         *     `restoreEntity` do the same.
         */
        post: operations["updateEntity"];
        /**
         * Delete an entity
         * @description Its key is never given again. If its type has `x-soft-delete`, the entity goes to the trash and can be restored for some time. A second DELETE is 404. With `If-Match` the entity is deleted only if its version is still that one, else
         *     412. A declared type can require `If-Match`, and a request without is then 428.
         *
         *     If other entities refer to it, their types decide: it is not deleted (`restrict`, 409 `still-referenced`), they are deleted too
         *     (`cascade`), or their references become null (`set-null`). All of it happens, or nothing. The caller needs no right on those entities.
         *     If more than 1,000 would be deleted or changed, the answer is 409 `still-referenced` with `too-many-referrers`. A purge does not have this
         *     limit: it deletes and changes them in portions first, unless one restricts the deletion, or more than 1,000 refer to each other in a circle. If
         *     that takes more than five seconds or fails, the answer has `partly-done` with the number. If it is 503, the same request goes on with the rest.
         *
         *     With `purge=1` the entity leaves the trash for good, and all its versions lose their fields; the audit trail tells of it. The caller needs the action
         *     `purge`. A live entity is deleted first, which needs `delete` too. Entities that are deleted with it are not purged. If nothing is stored of
         *     the entity any more, the answer is 404.
         */
        delete: operations["deleteEntity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/{key}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of an entity
         * @description The versions of the entity, newest first, with the user and the time of each change. The history of a deleted entity ends with its deletion, which
         *     has the fields and the version of the last one. Versions are kept for 7 days, or as long as `x-history` of the declared type says. The caller
         *     needs `read`, and sees the history of the entities that it may read, or could read until they were deleted.
         */
        get: operations["listVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/{key}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a version of an entity
         * @description Gives the entity the fields that it had in an earlier version, as a new version unless it has the same ones. Nothing of the history is lost, so a restore can be undone
         *     by another one. With `If-Match` it happens only if the version is still that one, else 412. The fields must fit the declared type as it is
         *     now. The caller needs `update` and `read`. A JSON merge patch (RFC 7396) in the body changes the fields before they are checked, so that
         *     fields which fit the type no more can be restored too.
         *
         *     An entity in the trash comes back under its key, as the next version; without `version` with the fields that it had last. Entities that were
         *     deleted with it are restored by themselves. One that is in the trash no more, or never was, is 404. A live entity needs `version`: 400.
         */
        post: operations["restoreEntity"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run several operations
         * @description Runs up to 100 operations in their order. By default they are one transaction: the first refusal is the answer, its pointers lead into the
         *     operations, and nothing is written. With `atomic: false` each is a transaction of its own, and the answer has the outcome of each. The rights
         *     of all operations are checked before the first one runs. An entity that the caller may read and not change is 403 in its turn. `{"$ref": "o1"}` in a field that the declared type has as a reference stands for the
         *     key of the create with the id `o1`: of an earlier one, or in one transaction of a later one too. With `Prefer: dry-run` one transaction is
         *     tried and nothing is written; keys in such an answer are never given again.
         *
         *     With an `Idempotency-Key` a repeat gets the first answer again. An entity that the history no longer has in that version, or that the caller may
         *     not reach any more, is left out of it. With `atomic: false` each operation has the key for itself: a repeat does those that were refused before.
         *     A dry run takes no notice of the key.
         */
        post: operations["runBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export entities
         * @description The entities of the name that the caller may read, by key or in the order of `sort`, as a stream. An entity is sent as it is when the stream
         *     reaches it; the export is no snapshot. Rights count anew on each part.
         *
         *     **NDJSON**: each line is an `Entity` with one more member, `database`: the name of the database, by which an import elsewhere sees that the keys are not
         *     its own. The last line is `{"$complete":true,"entities":1000,"position":"512","database":"db5f0c2a9e71b3d684"}`: the export has all changes up to
         *     this position, which `getEntity` takes as `asOf`, and may have later ones. It has `"partial":true` too if the grants of the caller do not cover all
         *     entities of the name. An export that has to end early says so in its last line: `$complete` is false, and `problem` has the reason.
         *
         *     **CSV**: UTF-8 with a header. The first column is `$key`, then comes `$version` if the type has `x-if-match: required`, and one for each field of
         *     the declared type, or of `fields`. Without `fields` the next column is `$fields`: a JSON object of what has no other column. The last column has no cells, and its
         *     header names the database: `$database=db5f0c2a9e71b3d684`. An empty cell is a
         *     missing field, `\N` is null, `""` is the empty text. Arrays, and fields of several types, are JSON in the cell. An export that has to end early ends the connection before the last chunk.
         *     Every HTTP client reports that as an error.
         */
        get: operations["exportEntities"];
        put?: never;
        /**
         * Export entities by a query in the body
         * @description The same as `exportEntities` with the parameters as one JSON object, for filters that are too long for a URL. It changes nothing, so it may be
         *     repeated.
         */
        post: operations["exportQuery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import entities
         * @description Creates an entity of each row of a file of up to 64 MiB. With `by` it updates the entity that has the same values, so that the file can
         *     be imported again. Up to 500 rows are one transaction. A row that is refused does not stop the others. Rights are checked before the first row is written, and anew for each
         *     transaction: `create`, and with `by` also `read` and `update`.
         *
         *     The answer begins while the file is still being sent. Each of its lines is a JSON object (NDJSON): for a row that is refused
         *     `{"row":17,"status":422,"code":"validation-failed","errors":[…]}`, and after each transaction
         *     `{"done":false,"row":500,"created":499,"updated":0,"unchanged":0,"failed":1,"removedFields":0}` with the last row whose outcome is known. The last
         *     line has `"done":true`. Where the service reads from a standby too, these lines have a `consistencyToken`.
         *
         *     - Consecutive rows that are refused for the same reason are one line, with the last of them as `toRow`. It comes when the next row is another one.
         *     - `duplicateOf` is the row of the same file that has the same unique value. The second row is refused.
         *     - `removedFields` counts the members of objects that updates have removed.
         *     - `ignored` names the columns that count for nothing: those called `$ignore`, `$key` without `by=$key`, `$version` without `by`, and other names
         *       of the envelope.
         *     - If the import has to end early, its last line has `"done":false` and the `problem`. It is `too-many-refusals` after 1,000 lines of refused rows
         *       or 100,000 such rows, and `too-many-rows` after 2,000,000 unique values. If the outcome of a COMMIT is unknown, `uncertainTo` is the last row
         *       that it may have written.
         *
         *     **NDJSON**: each line has the fields of an entity, or an entity as `exportEntities` writes it, of which the fields count, and with `by=$key` the
         *     key and the version. **CSV**: UTF-8 with a header, as `exportEntities` writes it. The declared type decides what a cell is; a field that it does
         *     not name is a text. Rows of empty cells, and columns of empty cells without a name, are skipped.
         *
         *     With `by`, a row that has a version, in the column `$version` of CSV, changes the entity in this version alone, else it is refused with 412. A type
         *     with `x-if-match: required` takes no update without it.
         *
         *     A file that `exportEntities` has written names its database. In a file of another database, references by key are refused with the fault
         *     `other-database`, and with `by` also the key and the version, where they count. Name the targets of references by values: `customer.number`.
         */
        post: operations["importEntities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity-type": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the entity types
         * @description The types of the names on which the caller has the action `type`, by name, without their documents.
         */
        get: operations["listEntityTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity-type/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an entity type
         * @description The type with its document, for callers with the action `type` on the name. With `If-None-Match` and an unchanged type the answer is 304
         *     without a body.
         */
        get: operations["getEntityType"];
        /**
         * Declare or change an entity type
         * @description The body is the type's document, a JSON Schema (2020-12) of the fields. With `If-None-Match: *` the name must have no type, with `If-Match` its
         *     type must have this revision, else 412; without either header 428. Stored entities that do not fit are 409 `type-conflict`, and nothing
         *     changes: the pointer of each fault begins with the entity's key. With `allowUnfit=1` they stay as they are, can be read, and must fit at
         *     their next update. A document that is in force already is 200 and changes nothing. For a change with the effect `check`, the caller needs
         *     `read` on all entities of the name: 403. With `allowUnfit=1` it checks none and needs no `read`.
         *
         *     Stored entities must fit new rules without exception: two that share a value of `x-unique`, and one that refers to no entity, are 409. Indexes are built
         *     while entities are written; until the end the old type is in force. More than 100,000 entities are 409, and are a matter for the operator's
         *     command line. If the type is being built already, the answer is 503 after five seconds. The caller needs `read` on all entities of a name that
         *     `x-references` is the first to name: 403.
         *
         *     With a shorter `x-history` versions are lost, and a change of `x-sensitive` hides a field or shows it: such a change needs `confirm`, the digest of its
         *     plan, else 409 `confirmation-required`. A change that shows a field needs `read` of it in all entities of the name, else 403. A new `x-sensitive` is
         *     409 `older-version` while processes of an older version run, which would show the field.
         *
         *     The type counts for the next request on every replica. Where the operator's files declare the types, the answer is 403.
         */
        put: operations["putEntityType"];
        post?: never;
        /**
         * Delete an entity type
         * @description The entities of the name stay and can have any fields from now on. If other types refer to them, the answer is 409
         *     `type-conflict`. `confirm` is the digest of the plan of the deletion, so that the service does what the caller has read. Without it, or
         *     if the type has changed since, the answer is 409 `confirmation-required`.
         */
        delete: operations["deleteEntityType"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity-type/{name}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plan a change of an entity type
         * @description Says what a change would do, and changes nothing. If a step has the effect `check` or `build`, every stored entity of the name is checked
         *     against the new document and its rules. The caller then needs `read` on all entities of the name, else 403. More than 100,000 entities
         *     are 409, and the operator plans the change with the administration command. A user's plans and changes of types run one after the other.
         */
        post: operations["planEntityType"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rest/entity/{name}/describe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe the entities of a name
         * @description Describes the declared type for user interfaces: fields, options, references, limits and the form, with titles in the caller's language. It is
         *     for callers with any right on the name. Fields that the caller may neither read nor write are absent. A name without a declared type is 404.
         *     The language is that of the session; for a session in English, the default, it is the best of `Accept-Language`.
         */
        get: operations["describeEntity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description The only accepted value is 1.
         * @enum {string}
         */
        Flag: "1";
        /**
         * Format: int64
         * @description A 64-bit integer in canonical decimal digits, as text so that no client rounds it (RFC 7493).
         * @example 42
         */
        Int64: string;
        /**
         * @description A letter, then up to 63 letters, digits, underscores, dots and hyphens.
         * @example customer
         */
        EntityName: string;
        /**
         * @description A BCP 47 language tag.
         * @example en
         * @example de-AT
         */
        Locale: string;
        /**
         * Format: date-time
         * @description RFC 3339, UTC.
         * @example 2026-11-20T08:00:00.000Z
         */
        Timestamp: string;
        /**
         * @description A sign-in with a name and a password, or with an access token of an issuer.
         * @example {
         *       "user": "ada",
         *       "password": "correct horse battery staple",
         *       "locale": "en"
         *     }
         */
        SessionRequest: {
            /** @description The user name, for login by password. */
            user?: string;
            /**
             * Format: password
             * @description The password.
             */
            password?: string;
            locale?: components["schemas"]["Locale"];
            /** @description The id or URL of a trusted issuer, for login by its access token. */
            oidcIssuer?: string;
            /** @description The access token, where it is not in the Authorization header. */
            access_token?: string;
        };
        /**
         * @description The present password, and the new one twice.
         * @example {
         *       "current-password": "correct horse battery staple",
         *       "set-password": "seven quiet lanterns drift north",
         *       "confirm-password": "seven quiet lanterns drift north"
         *     }
         */
        PasswordChange: {
            /**
             * Format: password
             * @description The present password.
             */
            "current-password": string;
            /**
             * Format: password
             * @description The new password.
             */
            "set-password": string;
            /**
             * Format: password
             * @description The new password once more.
             */
            "confirm-password": string;
        };
        /** @description Who is calling, under which profile, in which session, on which server. */
        SessionInfo: {
            user: components["schemas"]["User"];
            /** @description The active profile; null for a user who has none. */
            profile: components["schemas"]["ActiveProfile"] | null;
            claims: components["schemas"]["CallerValues"];
            locale: components["schemas"]["Locale"];
            authentication: components["schemas"]["Authentication"];
            /** @description The session; null for an API key and for a bearer token. */
            session: components["schemas"]["Session"] | null;
            server: components["schemas"]["Server"];
            /** @description Only with roles=1. */
            roles?: components["schemas"]["Role"][];
            /** @description Only with profiles=1. */
            profiles?: components["schemas"]["Profile"][];
        };
        /** @description The user. */
        User: {
            /** @description The unique name. */
            name: string;
            /** @description The name to show. */
            displayName: string;
            /** @description The name of a time zone of the IANA database; null for UTC. */
            timeZone: string | null;
            attributes: components["schemas"]["CallerValues"];
        };
        /**
         * @description Values that rules compare with fields of entities, by name: attributes of the user or of the profile, which an administrator sets, or the claims of the
         *     issuer's newest token that this service reads. A value is a text, a number, true or false, or an array of these. A value that is not of its declared
         *     type is left out.
         */
        CallerValues: {
            [key: string]: unknown;
        };
        /** @description The profile whose roles grant. */
        ActiveProfile: {
            /** @description The unique name. */
            name: string;
            /** @description The name to show. */
            label: string;
            /** @description Whether it is the one a new session starts under. */
            default: boolean;
            attributes: components["schemas"]["CallerValues"];
        };
        /** @description How the caller was authenticated. */
        Authentication: {
            /**
             * @description By which way.
             * @enum {string}
             */
            method: "password" | "token" | "openid" | "api-key" | "bearer";
            /** @description The issuer of the token; null without one. */
            issuer: string | null;
            at: components["schemas"]["Timestamp"];
            /** @description Where the browser can go after a logout here to end the session at the provider as well; null without one. */
            endSessionUrl: string | null;
        };
        /** @description The session. The id is a public handle, never the value of the cookie. */
        Session: {
            /**
             * Format: uuid
             * @description The public handle.
             */
            id: string;
            createdAt: components["schemas"]["Timestamp"];
            lastSeenAt: components["schemas"]["Timestamp"];
            idleExpiresAt: components["schemas"]["Timestamp"];
            expiresAt: components["schemas"]["Timestamp"];
        };
        /** @description The server. */
        Server: {
            /** @description The product. */
            name: string;
            /** @description The version of this contract. */
            version: string;
            time: components["schemas"]["Timestamp"];
            /** @description The locales problems are described in. */
            locales: components["schemas"]["Locale"][];
            /** @description The ways in that this server offers. */
            authentication: ("password" | "api-key" | "oauth2" | "openid")[];
            /** @description What a new password must be like, for a form to show. */
            password: {
                /** @description Fewest characters. */
                minLength: number;
                /** @description Most characters. */
                maxLength: number;
            };
        };
        /** @description A named set of grants. */
        Role: {
            /** @description The unique name. */
            name: string;
            /** @description What the role is for. */
            description: string;
            /** @description The grants on any row, or on own ones. */
            grants: components["schemas"]["Grant"][];
            /** @description The grants by rules, on some rows and fields. */
            rules: components["schemas"]["GrantRule"][];
        };
        /** @description Actions on entities of one name, on the rows that fulfil a filter and on some of their fields. */
        GrantRule: {
            /** @description The name, unique within the role and the entity name. */
            name: string;
            /** @description An entity name, or * for every one. */
            entity: string;
            /** @description What may be done. */
            actions: ("create" | "read" | "update" | "delete" | "purge" | "label")[];
            /** @description The rows, as they are before a change; `$hidden` stands for a test of a field that no grant shows. Without it they are all. */
            filter?: {
                [key: string]: unknown;
            };
            /** @description The condition on a row after a create, an update or a restore. Without it that is the filter. */
            check?: {
                [key: string]: unknown;
            };
            /** @description The fields that answers show. */
            read?: string[];
            /** @description The fields that may change. */
            write?: string[];
            /** @description Values that fill absent members of a new entity. */
            set?: {
                [key: string]: unknown;
            };
        };
        /** @description A request on entities of a name, or on one of them. */
        PermissionQuestion: {
            entity: components["schemas"]["EntityName"];
            key?: components["schemas"]["Int64"];
            /**
             * @description The action. `create` and `type` take no `key`.
             * @enum {string}
             */
            action?: "create" | "read" | "update" | "delete" | "type" | "purge" | "label";
            set?: components["schemas"]["Fields"];
        };
        /** @description The explanation of the action, or of each action if the question names none. */
        PermissionAnswer: components["schemas"]["Permission"] | components["schemas"]["PermissionList"];
        /** @description The explanation of each action. */
        PermissionList: {
            /** @description The active profile; null for a user without one. */
            profile: string | null;
            /** @description The explanations. */
            actions: components["schemas"]["Permission"][];
        };
        /** @description How a request would be answered, and why. */
        Permission: {
            /**
             * @description The action of the request.
             * @enum {string}
             */
            action: "create" | "read" | "update" | "delete" | "type" | "purge" | "label";
            /** @description Whether the request would be done. */
            allowed: boolean;
            /** @description The status of its answer. */
            status: number;
            /** @description The code of the problem with which it would be refused. */
            code?: string;
            /** @description The faults of that problem. */
            faults: {
                /** @description RFC 6901 pointer into the fields; empty for the entity as a whole. */
                pointer: string;
                /** @description The code of the fault. */
                code: string;
            }[];
            /** @description The active profile; null for a user without one. */
            profile: string | null;
            /** @description The grants of the action. None for an entity that the caller may not read. */
            grants: components["schemas"]["ExplainedGrant"][];
            /**
             * @description The filter of the entities that the grants are about, with the values of the caller in place of variables; `$hidden` stands for tests of fields
             *     that no grant shows. Left out without a grant.
             */
            rows?: {
                [key: string]: unknown;
            };
            /** @description The shown fields, for `create`, `read` and `update`. `*` stands for those that the type does not name. */
            fields?: {
                /** @description The fields that a read shows, of this entity or of some. */
                readable: string[];
                /** @description The fields that the action may write. */
                writable: string[];
            };
            /**
             * @description Conditions besides the grants. `scope`: the credential does not have the action. `if-match`: the request needs `If-Match`. `missing-variable`:
             *     a rule compares with a value that the caller lacks.
             */
            limits: ("scope" | "if-match" | "missing-variable")[];
        };
        /** @description A grant, and what it finds on the entity. A finding is left out if nothing was tested, or if it would tell of a hidden value. */
        ExplainedGrant: {
            /** @description The name of the role. */
            role: string;
            /** @description The name of the rule; `any` or `own` for a grant without one. */
            grant: string;
            /** @description Whether its filter holds for the entity as it is. */
            covers?: boolean;
            /** @description Whether its check holds for the entity afterwards. */
            check?: boolean;
            /** @description The members of the rule that do not hold; empty texts for those about fields that are hidden here. */
            failed: string[];
            /** @description The fields that it lets the caller write, as the rule lists them. */
            write?: string[];
        };
        /** @description Actions on an entity. */
        Grant: {
            /** @description An entity name, or * for every one. */
            entity: string;
            /** @description What may be done. */
            actions: ("create" | "read" | "update" | "delete" | "type" | "purge" | "label")[];
            /**
             * @description On any row, or only on rows the user created.
             * @enum {string}
             */
            condition: "any" | "own";
        };
        /** @description A named working context of a user. */
        Profile: {
            /** @description The unique name. */
            name: string;
            /** @description The name to show. */
            label: string;
            /** @description Whether it is the one a new session starts under. */
            default: boolean;
            /** @description Whether it is the one this request acts under. */
            active: boolean;
            /** @description The names of its roles. */
            roles: string[];
        };
        /** @description The user's profiles. */
        ProfileList: {
            /** @description By name. */
            profiles: components["schemas"]["Profile"][];
        };
        /** @description A live session of the user. The id is a public handle, never the value of the cookie. */
        OwnSession: {
            /**
             * Format: uuid
             * @description The public handle.
             */
            id: string;
            createdAt: components["schemas"]["Timestamp"];
            lastSeenAt: components["schemas"]["Timestamp"];
            idleExpiresAt: components["schemas"]["Timestamp"];
            expiresAt: components["schemas"]["Timestamp"];
            /** @description The network address it was opened from. */
            address: string | null;
            /** @description What the client that opened it called itself, up to 256 characters. */
            userAgent: string | null;
            /**
             * @description By which way it was opened.
             * @enum {string}
             */
            method: "password" | "token" | "openid";
            /** @description The issuer of the token it was opened with; null without one. */
            issuer: string | null;
            /** @description The name of its active profile; null without one. */
            profile: string | null;
            /** @description Whether it is the one that asks. */
            current: boolean;
        };
        /** @description The user's live sessions. */
        SessionList: {
            /** @description The newest first. */
            sessions: components["schemas"]["OwnSession"][];
        };
        /** @description How many sessions were ended. */
        SessionsEnded: {
            /** @description The sessions that were live until now. */
            ended: number;
        };
        /** @description The providers to sign in at. */
        IssuerList: {
            /** @description In the order of the operator's file. */
            issuers: components["schemas"]["SignInIssuer"][];
        };
        /** @description A provider to sign in at. */
        SignInIssuer: {
            /** @description Its id. */
            id: string;
            /** @description Its name for people. */
            label: string;
            /**
             * Format: uri
             * @description Where to send a browser.
             */
            startUrl: string;
        };
        /** @description An identity at an issuer that is linked to the user. */
        LinkedIdentity: {
            /**
             * Format: uuid
             * @description The link's public handle.
             */
            id: string;
            /** @description The issuer's URL, as its tokens carry it in `iss`. */
            issuer: string;
            /** @description The issuer's id; null for one that is no longer trusted. */
            issuerId: string | null;
            /** @description The issuer's name for people; null for one that is no longer trusted. */
            label: string | null;
            /** @description The user's id at the issuer (`sub`). */
            subject: string;
            linkedAt: components["schemas"]["Timestamp"];
            /** @description Whether the session that asks was opened through it. */
            current: boolean;
        };
        /** @description The identities that are linked to the user. */
        IdentityList: {
            /** @description The newest link first. */
            identities: components["schemas"]["LinkedIdentity"][];
        };
        /** @description An address at a provider. */
        ProviderAddress: {
            /**
             * Format: uri
             * @description Where to send the browser, within ten minutes.
             */
            url: string;
        };
        /**
         * @description A sign-in that another party begins. Further fields are ignored, as the standard asks.
         * @example {
         *       "iss": "https://login.example.com",
         *       "login_hint": "ada@example.com",
         *       "target_link_uri": "http://localhost:3000/auth"
         *     }
         */
        InitiatedSignIn: {
            /** @description The issuer; it must be the one of the path. */
            iss: string;
            /** @description Text about the user, which is passed on to the provider. */
            login_hint?: string;
            /** @description Where to go in the end; a URL on this service's origin. */
            target_link_uri?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description What a provider says is over. Further fields are ignored, as the standard asks.
         * @example {
         *       "logout_token": "eyJhbGciOiJSUzI1NiIsInR5cCI6ImxvZ291dCtqd3QifQ.e30.c2ln"
         *     }
         */
        ProviderLogout: {
            /** @description Signed by the provider. */
            logout_token: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description The API key's public handle, the twelve characters after `esk_`.
         * @example 4fT9xKq2LmZa
         */
        KeyId: string;
        /** @description What the key is for, without control characters. Need not be unique. */
        KeyName: string;
        /** @description Actions on an entity. Scopes are a ceiling and grant nothing by themselves. */
        Scope: {
            /** @description An entity name, or * for every one that the roles grant the actions on. */
            entity: string;
            /** @description What may be done. */
            actions: ("create" | "read" | "update" | "delete" | "type" | "purge" | "label")[];
        };
        /** @description What the new key is for and what it may do. */
        KeyRequest: {
            name: components["schemas"]["KeyName"];
            /** @description One of the user's profiles; without it the default one, whichever that is when the key is used. */
            profile?: string;
            /** @description Narrows what the profile's roles allow; without it nothing is narrowed. */
            scopes?: components["schemas"]["Scope"][];
            /** @description 90 if it is left out. */
            expiresInDays?: number;
        };
        /** @description How to change over. */
        KeyRotation: {
            /** @description How long the old key goes on at most; 3600 if it is left out. */
            overlapSeconds?: number;
        };
        /** @description A live API key, without the key itself. */
        Key: {
            id: components["schemas"]["KeyId"];
            name: components["schemas"]["KeyName"];
            /** @description The profile it acts under; null for the default one. */
            profile: string | null;
            /** @description What narrows its rights; null if nothing does. */
            scopes: components["schemas"]["Scope"][] | null;
            createdAt: components["schemas"]["Timestamp"];
            /** @description When it was last used, to the minute; null if never. */
            lastUsedAt: components["schemas"]["Timestamp"] | null;
            expiresAt: components["schemas"]["Timestamp"];
        };
        /** @description The user's live API keys. */
        KeyList: {
            /** @description The newest first. */
            keys: components["schemas"]["Key"][];
        };
        /** @description An API key, shown this once. */
        NewKey: {
            id: components["schemas"]["KeyId"];
            name: components["schemas"]["KeyName"];
            /** @description The profile it acts under; null for the default one. */
            profile: string | null;
            /** @description What narrows its rights; null if nothing does. */
            scopes: components["schemas"]["Scope"][] | null;
            createdAt: components["schemas"]["Timestamp"];
            expiresAt: components["schemas"]["Timestamp"];
            /** @description What to send as `X-API-Key`. It cannot be shown again. */
            key: string;
        };
        /**
         * @description Any JSON object within these limits: 32 levels, 10,000 values, member names of 128 characters. Duplicate members, `__proto__`,
         *     `constructor` and `prototype`, U+0000, lone surrogates and numbers that a double cannot hold exactly are refused with 400.
         */
        Fields: {
            [key: string]: unknown;
        };
        /** @description An entity and what the service knows about it. */
        Entity: {
            name: components["schemas"]["EntityName"];
            key: components["schemas"]["Int64"];
            /** @description 1 at creation, one more with every change. */
            version: number;
            createdAt: components["schemas"]["Timestamp"];
            /** @description The name of the user who created it. */
            createdBy: string;
            updatedAt: components["schemas"]["Timestamp"];
            /** @description The name of the user who changed it last. */
            updatedBy: string;
            deletedAt?: components["schemas"]["Timestamp"];
            /** @description In the trash alone: the name of the user who deleted it. */
            deletedBy?: string;
            expiresAt?: components["schemas"]["Timestamp"];
            fields: components["schemas"]["Fields"];
            label?: components["schemas"]["Label"];
        };
        /** @description An entity, and with `include` those that it refers to. */
        EntityView: {
            name: components["schemas"]["EntityName"];
            key: components["schemas"]["Int64"];
            /** @description 1 at creation, one more with every change. */
            version: number;
            createdAt: components["schemas"]["Timestamp"];
            /** @description The name of the user who created it. */
            createdBy: string;
            updatedAt: components["schemas"]["Timestamp"];
            /** @description The name of the user who changed it last. */
            updatedBy: string;
            deletedAt?: components["schemas"]["Timestamp"];
            /** @description In the trash alone: the name of the user who deleted it. */
            deletedBy?: string;
            expiresAt?: components["schemas"]["Timestamp"];
            fields: components["schemas"]["Fields"];
            label?: components["schemas"]["Label"];
            included?: components["schemas"]["Included"];
            withheld?: components["schemas"]["Withheld"];
            labels?: components["schemas"]["Labels"];
        };
        /** @description The fields of several entities. */
        FieldsList: components["schemas"]["Fields"][];
        /** @description The entities that were created, in the order of the request. */
        CreatedEntities: {
            /** @description The entities. */
            items: {
                key: components["schemas"]["Int64"];
                /** @description 1 at creation. */
                version: number;
            }[];
        };
        /** @description Operations to run in their order. */
        Batch: {
            /** @description Whether all of them are one transaction; true without it. */
            atomic?: boolean;
            /** @description The operations. */
            operations: components["schemas"]["BatchOperation"][];
        };
        /**
         * @description `create` needs `fields` and takes `id`; `update` needs `key` and `fields`, a merge patch (RFC 7396), and takes `ifMatch`; `delete` needs `key`
         *     and takes `ifMatch`; `get` needs `key`. Any other member of an operation is refused with 422. `get` retrieves the entity as the operations before
         *     have left it.
         */
        BatchOperation: {
            /**
             * @description What to do.
             * @enum {string}
             */
            op: "create" | "update" | "delete" | "get";
            /** @description What `$ref` of other operations calls the entity that `create` creates. */
            id?: string;
            name: components["schemas"]["EntityName"];
            key?: components["schemas"]["Int64"];
            /** @description The version that the entity must have to be updated or deleted. */
            ifMatch?: string;
            fields?: components["schemas"]["Fields"];
        };
        /** @description The outcome of each operation, in the order of the request. */
        BatchResults: {
            /** @description The outcomes. */
            results: {
                /** @description The status that the operation alone would have. */
                status: number;
                entity?: components["schemas"]["Entity"];
                problem?: components["schemas"]["Problem"];
            }[];
        };
        /** @description An entity as it was after a change. `updatedAt` and `updatedBy` are those of the change. */
        EntityVersion: {
            /**
             * @description What changed it.
             * @enum {string}
             */
            operation: "created" | "updated" | "deleted" | "restored";
            name: components["schemas"]["EntityName"];
            key: components["schemas"]["Int64"];
            /** @description 1 at creation, one more with every change. A deletion has that of the last version. */
            version: number;
            createdAt: components["schemas"]["Timestamp"];
            /** @description The name of the user who created the entity. */
            createdBy: string;
            updatedAt: components["schemas"]["Timestamp"];
            /** @description The name of the user who made the change. */
            updatedBy: string;
            fields: components["schemas"]["Fields"];
            label?: components["schemas"]["Label"];
            /** @description The members at the top of the fields that differ from the version before. Null at the creation. Null also if the version before is no longer stored, unless it was over 12 hours old when it was replaced. */
            changed: string[] | null;
        };
        /** @description A page of versions. */
        EntityHistory: {
            /** @description The versions, newest first. */
            items: components["schemas"]["EntityVersion"][];
            /** @description The cursor of the next page; null at the end. */
            next: string | null;
            labels?: components["schemas"]["Labels"];
            partial?: components["schemas"]["Partial"];
        };
        /**
         * @description A JSON Schema (2020-12) of the fields, an object. Beside the formats of JSON Schema there are `int64` and `decimal`, texts of digits.
         *     `x-if-match: required` at its top makes If-Match obligatory for updates and deletes. `x-history` says how long versions are stored, and
         *     `x-soft-delete` how long deleted entities stay in the trash. `x-title`, `x-description` and `x-labels` are texts in several languages, `x-form` is a
         *     form, `x-zone` a time zone, and `x-label` has the fields of the name of an entity. Unknown keywords and formats are refused.
         */
        TypeDocument: {
            [key: string]: unknown;
        };
        /** @description A type without its document. */
        EntityTypeSummary: {
            name: components["schemas"]["EntityName"];
            /** @description The number of the change that put the document in force. None is used twice. */
            revision: string;
            /**
             * @description Where the document came from: the files of the operator, the command line, a request.
             * @enum {string}
             */
            source: "files" | "command" | "api";
            appliedAt: components["schemas"]["Timestamp"];
            /** @description The user, or the name of the operating system or of the service. */
            appliedBy: string;
        };
        /** @description A type and its document. */
        EntityType: {
            name: components["schemas"]["EntityName"];
            /** @description The number of the change that put the document in force. */
            revision: string;
            /**
             * @description Where the document came from.
             * @enum {string}
             */
            source: "files" | "command" | "api";
            appliedAt: components["schemas"]["Timestamp"];
            /** @description The user, or the name of the operating system or of the service. */
            appliedBy: string;
            document: components["schemas"]["TypeDocument"];
        };
        /** @description Types by name. */
        EntityTypeList: {
            /** @description The types. */
            types: components["schemas"]["EntityTypeSummary"][];
        };
        /** @description A declared type as a caller may see it, with texts in the caller's language. */
        EntityDescription: {
            name: components["schemas"]["EntityName"];
            /** @description The title of an entity; the name without `title` and `x-title`. */
            title: string;
            /** @description Absent if the type has none, or fields that the caller may not know. */
            description?: string;
            /** @description The zone of `x-zone`, else UTC. */
            timeZone: string;
            /** @description The actions that the caller may do with some entity of the name. */
            actions: string[];
            /** @description The fields in the order of the type. */
            fields: components["schemas"]["FieldDescription"][];
            /** @description The groups of `x-form`. Fields that it does not name come last. */
            form: components["schemas"]["FormGroup"][];
        };
        /** @description A group of a form. */
        FormGroup: {
            /** @description The heading. */
            title?: string;
            /** @description The rows from top to bottom. */
            rows: string[][];
        };
        /** @description A field, a member of an object inside of a field, or the items of an array. */
        FieldDescription: {
            /** @description Absent for items of an array. */
            name?: string;
            /** @description The name without `title` and `x-title`. */
            title: string;
            /** @description The text of the author. */
            description?: string;
            /**
             * @description How values are written and compared. `any` is a field of several types.
             * @enum {string}
             */
            type: "string" | "enum" | "number" | "integer" | "int64" | "decimal" | "date" | "date-time" | "boolean" | "object" | "array" | "any";
            /** @description The format of a text. */
            format?: string;
            /** @description Whether null is a value. */
            isNullable: boolean;
            /** @description The only values. */
            options?: components["schemas"]["FieldOption"][];
            /** @description The keywords of JSON Schema that limit the value, such as `maxLength`. */
            limits?: {
                [key: string]: unknown;
            };
            reference?: components["schemas"]["FieldReference"];
            items?: components["schemas"]["FieldDescription"];
            /** @description The members of an object. */
            fields?: components["schemas"]["FieldDescription"][];
            /** @description Whether a new entity, or the object, must have it. */
            isRequired?: boolean;
            /** @description Whether the caller sees the field in some row. Only at the top. */
            isReadable?: boolean;
            /** @description Whether the caller sees the field in some rows alone. Only at the top. */
            isSometimesHidden?: boolean;
            /** @description Whether the caller may send the field in new entities. Only at the top. */
            isCreatable?: boolean;
            /** @description Whether the caller may change the field. Only at the top. */
            isUpdatable?: boolean;
        };
        /** @description A value of a field. */
        FieldOption: {
            /** @description A text, a number, true or false. */
            value: string | number | boolean;
            /** @description The text of `x-labels`, else the value. */
            label: string;
        };
        /** @description The reference that the field is. */
        FieldReference: {
            to: components["schemas"]["EntityName"];
        };
        /** @description A change of a type; without a document its deletion. */
        TypeChange: {
            document?: components["schemas"]["TypeDocument"];
        };
        /** @description What a change of a type would do. */
        TypePlan: {
            name: components["schemas"]["EntityName"];
            /** @description The revision that the change starts from; 0 for a name without a type. */
            revision: string;
            effect: components["schemas"]["TypeEffect"];
            /** @description The differences; none if the document is in force already. */
            steps: {
                /**
                 * @description narrower: may refuse what was accepted; wider: accepts all that was accepted; note: concerns no validation; rule: an entry of `x-unique`,
                 *     `x-index`, `x-references` or `x-search` that is new, or whose fields have another type; no-rule: one that is gone; shorter: `x-history` keeps
                 *     versions for less time; sensitive: a field has `x-sensitive`; not-sensitive: it has it no more.
                 * @enum {string}
                 */
                kind: "declare" | "narrower" | "wider" | "note" | "rule" | "no-rule" | "shorter" | "sensitive" | "not-sensitive" | "delete";
                /** @description A JSON pointer into the document. */
                pointer: string;
                effect: components["schemas"]["TypeEffect"];
            }[];
            /** @description The number of entities of the name, counted up to 100,001. */
            entities: number;
            /** @description The number of those that do not fit; 0 where nothing had to be checked. One that shares values of several unique rules counts for each. */
            unfit: number;
            /** @description The first of them by key. */
            examples: {
                key: components["schemas"]["Int64"];
                /** @description Where, and why. */
                errors: components["schemas"]["Fault"][];
            }[];
            /** @description The fields that callers lose or gain by the change, because `*` in a grant has no field with `x-sensitive`. */
            fields?: {
                /** @description A JSON pointer into the document. */
                pointer: string;
                /**
                 * @description Whether grants with `*` lose the field or gain it.
                 * @enum {string}
                 */
                change: "lost" | "gained";
                /** @description The grants with `*` in a list of fields, those on all names included. */
                grants: number;
                /** @description The users of the profiles with such a grant who have the field by no other one. */
                people: number;
            }[];
            /** @description SHA-256 of what the change starts from, its steps and its document. */
            digest: string;
        };
        /**
         * @description none: concerns later writes only; check: stored entities must fit; build: they must fit a rule, or are indexed; narrow: hides a field from those
         *     who see it by `*`; widen: shows a hidden one to them; loss: ends what does not come back. The last three need `confirm`.
         * @enum {string}
         */
        TypeEffect: "none" | "check" | "build" | "narrow" | "widen" | "loss";
        /**
         * @description Which entities: all members have to hold, so `{}` holds for every entity. A member is a field with a test. At the top, and inside of
         *     `$and`, `$or` and `$not`, `$key`, `$version`, `$createdAt`, `$createdBy`, `$updatedAt` and `$updatedBy` are tested like fields. A
         *     filter has at most 50 tests and five objects inside each other; texts have at most 1,000 characters.
         *
         *     A field that is missing or null, or has a value of another type, fulfils no comparison, and so fulfils `$ne`, `$nin` and `$not`.
         */
        Filter: {
            /** @description All of these hold. An empty list holds for every entity. */
            $and?: components["schemas"]["Filter"][];
            /** @description One of these holds. An empty list holds for no entity. */
            $or?: components["schemas"]["Filter"][];
            $not?: components["schemas"]["Filter"];
            /**
             * @description One entity that refers to this one fulfils the filter: `{"member.project": {…}}` for those called `member`, by their field `project`. The
             *     declared type of that name has the reference, and an index for it and the fields that the filter compares. An entity that the caller
             *     may not read counts as none. A filter has two of `$some` and `$none` at most.
             */
            $some?: {
                [key: string]: components["schemas"]["Filter"];
            };
            /** @description No entity that refers to this one fulfils the filter. */
            $none?: {
                [key: string]: components["schemas"]["Filter"];
            };
        } & {
            [key: string]: unknown | components["schemas"]["FieldTest"];
        };
        /**
         * @description A value; `{"$var": …}`, a variable: `user.name`, `profile.name`, `now` or `today`; `{"$field": …}`, another field of the entity, with dots
         *     into objects; or `{"$ago": …}`, the present time minus a duration of ISO 8601 such as `P30D`, where `-P7D` looks ahead.
         */
        Operand: string | number | boolean | null | ({
            $var?: string;
            $field?: string;
            $ago?: string;
        } & {
            [key: string]: unknown;
        });
        /** @description As `Operand`, of a type that has an order. */
        OrderedOperand: string | number | ({
            $var?: string;
            $field?: string;
            $ago?: string;
        } & {
            [key: string]: unknown;
        });
        /**
         * @description A value or another `Operand`, which the field must equal; operators, which must all hold; or the tests of members, where the field is an
         *     object. A value must be of the declared type and is never converted: int64, decimals and times are texts. A name without a declared type
         *     takes any.
         *
         *     `$match` tests the entity that a reference of the declared type leads to, and may look through two references in a row. An entity that
         *     does not exist or that the caller may not read fulfils no filter.
         */
        FieldTest: string | number | boolean | null | ({
            /** @description It equals the value; null is JSON null. */
            $eq?: components["schemas"]["Operand"];
            /** @description It does not equal the value. */
            $ne?: components["schemas"]["Operand"];
            /** @description It is less; texts compare by code points. */
            $lt?: components["schemas"]["OrderedOperand"];
            /** @description It is less or equal. */
            $lte?: components["schemas"]["OrderedOperand"];
            /** @description It is greater. */
            $gt?: components["schemas"]["OrderedOperand"];
            /** @description It is greater or equal. */
            $gte?: components["schemas"]["OrderedOperand"];
            /** @description It equals one of the values, or one of the items of a variable that is a list. An empty list finds nothing. */
            $in?: components["schemas"]["Operand"][] | {
                $var?: string;
            };
            /** @description It equals none of the values. An empty list finds everything. */
            $nin?: components["schemas"]["Operand"][] | {
                $var?: string;
            };
            /** @description A text that begins so, or so as a variable. */
            $prefix?: string | {
                $var?: string;
            };
            /** @description A text with this part, or an array with this item; the part or item may be a variable. */
            $contains?: components["schemas"]["Operand"];
            /** @description All of these tests of the field hold. */
            $and?: components["schemas"]["FieldTest"][];
            /** @description One of these tests of the field holds. */
            $or?: components["schemas"]["FieldTest"][];
            $not?: components["schemas"]["FieldTest"];
            /** @description The field equals the variable. */
            $var?: string;
            /** @description The field equals the other one. */
            $field?: string;
            /** @description The field equals that time. */
            $ago?: string;
            /** @description True if it has a value, null included; false if it is missing. */
            $exists?: boolean;
            /** @description True if it is missing or null; false if it has a value besides null. */
            $empty?: boolean;
            $match?: components["schemas"]["Filter"];
            $fold?: components["schemas"]["FoldTest"];
        } & {
            [key: string]: unknown | components["schemas"]["FieldTest"];
        });
        /**
         * @description Tests of a text without regard to case and accents: a text that it equals, or operators, which must all hold. The declared type needs
         *     an index for it, `{ field: name, fold: true }` in `x-index`.
         */
        FoldTest: string | null | ({
            /** @description It equals the text; null is JSON null. */
            $eq?: string | null;
            /** @description It does not equal the text. */
            $ne?: string | null;
            /** @description It equals one of the texts. An empty list finds nothing. */
            $in?: (string | null)[];
            /** @description It equals none of the texts. An empty list finds everything. */
            $nin?: (string | null)[];
            /** @description A text that begins so. */
            $prefix?: string;
            /** @description A text with this part. */
            $contains?: string;
        } & {
            [key: string]: unknown;
        });
        /** @description What to list. */
        EntityQuery: {
            filter?: components["schemas"]["Filter"];
            /** @description As the parameter `search`. */
            search?: string;
            /** @description As the parameter `sort`, each field a text. */
            sort?: string[];
            /** @description The most items of the page; 50 without it. */
            limit?: number;
            /** @description The `next` or `prev` of a page. */
            cursor?: string;
            /** @description As the parameter `fields`, each field a text. */
            fields?: string[];
            /** @description As the parameter `include`, each reference a text. */
            include?: string[];
            /** @description As the parameter `labels`. */
            labels?: boolean;
            /**
             * @description As the parameter `count`.
             * @enum {string}
             */
            count?: "none" | "capped" | "estimated" | "exact";
            /**
             * @description As the parameter `deleted`.
             * @enum {string}
             */
            deleted?: "only";
        };
        /** @description The entities to export, and the form of the file. */
        EntityExport: {
            /**
             * @description Of the file. Without it `Accept` decides; NDJSON if both will do.
             * @enum {string}
             */
            format?: "ndjson" | "csv";
            filter?: components["schemas"]["Filter"];
            /** @description As the parameter `search`. */
            search?: string;
            /** @description As the parameter `sort`, each field a text. */
            sort?: string[];
            /** @description As the parameter `fields`, each field a text. */
            fields?: string[];
            /** @description As the parameter `csvSafe`. */
            csvSafe?: boolean;
            /**
             * @description As the parameter `delimiter`.
             * @enum {string}
             */
            delimiter?: "comma" | "semicolon" | "tab";
            /** @description As the parameter `bom`. */
            bom?: boolean;
        };
        /** @description What to aggregate. */
        EntityAggregation: {
            filter?: components["schemas"]["Filter"];
            /** @description As in a list. */
            search?: string;
            /** @description The fields whose values make groups, or periods of them. Without it all entities are one group. */
            groupBy?: (string | {
                /** @description The field. */
                path: string;
                /**
                 * @description The period: `2026`, `2026-Q4`, `2026-11`, `2026-W47` (ISO 8601), `2026-11-20`, `2026-11-20T13`.
                 * @enum {string}
                 */
                by: "year" | "quarter" | "month" | "week" | "day" | "hour";
                /**
                 * @description The time zone of the periods of a `date-time`; UTC without it.
                 * @example Europe/Berlin
                 */
                zone?: string;
            })[];
            /** @description What to compute for each group, one to eight measures by names of letters, digits and `_`. `key` is no such name. */
            measures: {
                [key: string]: components["schemas"]["Measure"];
            };
            /** @description Tests of measures, by their names. Sums and averages are texts of decimals. */
            having?: components["schemas"]["Filter"];
            /** @description Measures and fields of `groupBy`, `-` in front for descending. Groups that are equal by it come in the order of their keys. */
            sort?: string[];
            /** @description The most groups of the answer; 1000 without it. */
            limit?: number;
        };
        /** @description Exactly one of the members. */
        Measure: {
            /**
             * @description The number of entities.
             * @enum {boolean}
             */
            $count?: true;
            /** @description The sum of a field of numbers, decimals or 64-bit integers, as a text. */
            $sum?: string;
            /** @description The average of such a field, as a text. */
            $avg?: string;
            /** @description The least value of a field, as the field is written; an instant in UTC. */
            $min?: string;
            /** @description The greatest value of a field. */
            $max?: string;
        };
        /** @description The groups of an aggregation. */
        EntityAggregated: {
            /** @description The groups in their order. */
            groups: components["schemas"]["EntityGroup"][];
            /** @description Whether these are all groups. */
            complete: boolean;
            partial?: components["schemas"]["Partial"];
        };
        /** @description A group, with each measure as a member of its own. */
        EntityGroup: {
            /** @description The value of each field of `groupBy`; null for entities without one. */
            key: {
                [key: string]: string | number | boolean | null;
            };
        } & {
            [key: string]: unknown;
        };
        /** @description A page of entities. */
        EntityPage: {
            /** @description The entities, in the order of the sort. */
            items: components["schemas"]["Entity"][];
            /** @description The cursor of the next page; null at the end, and on an empty page that `prev` led to. */
            next: string | null;
            /** @description The cursor of the page before; null at the beginning, and on an empty page. */
            prev: string | null;
            /** @description How many entities the filter finds; left out unless `count` asks for it. */
            count?: {
                /** @description The number. */
                value: number;
                /**
                 * @description `capped` if there are at least so many.
                 * @enum {string}
                 */
                kind: "exact" | "capped" | "estimated";
            };
            included?: components["schemas"]["Included"];
            withheld?: components["schemas"]["Withheld"];
            labels?: components["schemas"]["Labels"];
            partial?: components["schemas"]["Partial"];
        };
        /**
         * @description The grants of the caller do not cover all entities of the name, so there may be others. Left out if they cover all.
         * @constant
         */
        Partial: true;
        /**
         * @description The entities that references lead to, by name and key, each once; left out unless `include` asks for them. A page counts them in its
         *     8 MiB, and is cut before the item that does not fit.
         */
        Included: {
            [key: string]: {
                [key: string]: components["schemas"]["Entity"];
            };
        };
        /**
         * @description The name of the entity by the `x-label` of its type. Left out unless `labels` asks for it, where the caller may not see it, and for an entity without the
         *     fields that it is made of.
         */
        Label: string;
        /**
         * @description The names of the entities that references lead to, by name and key; left out unless `labels` asks for them. A key without a name may lead to no entity, to
         *     one whose name the caller may not see, or to one without a name.
         */
        Labels: {
            [key: string]: {
                [key: string]: string;
            };
        };
        /**
         * @description Where the references lead to an entity that does not exist or that the caller may not read; left out unless `include` asks for
         *     entities. A reference whose field the answer does not show is not listed.
         */
        Withheld: {
            name: components["schemas"]["EntityName"];
            key: components["schemas"]["Int64"];
        }[];
        /**
         * @description What went wrong, for programs. The list grows; treat an unknown code by its status.
         * @example not-found
         */
        ProblemCode: string;
        /** @description A refusal or failure (RFC 9457). */
        Problem: {
            /**
             * Format: uri
             * @description A page that explains the code.
             */
            type: string;
            /** @description The code in words. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description What to do about it. */
            detail: string;
            /** @description The request, to quote to the operator. */
            instance: string;
            code: components["schemas"]["ProblemCode"];
            /** @description What exactly is wrong with the input, and where. A request with more faults gets the first 20. */
            errors?: components["schemas"]["Fault"][];
        };
        /**
         * @description One thing wrong with the input. Has a pointer into the body, or a parameter; where a parameter holds JSON, it has both, and the pointer
         *     leads into that JSON. A name is repeated only if it has 1 to 64 letters, digits, `_`, `.` and `-`.
         */
        Fault: {
            /** @description RFC 6901 pointer into the body; form fields are members of the root. */
            pointer?: string;
            /** @description The name of a path, query or header parameter; empty where `position` stands for it. */
            parameter?: string;
            /**
             * @description Where a name is not repeated: the number of the member, field or parameter within its object, form or query, from 1. The pointer is
             *     that of the object. They are counted in the order of the text. Only if a body that could be read breaks its schema, names that are
             *     whole numbers come first, as in `Object.keys` of JavaScript.
             */
            position?: number;
            /** @description What is wrong, for programs. */
            code: string;
            /** @description What is wrong, for people. */
            detail: string;
            /** @description What is accepted instead, for people, such as `date, as 2026-11-22`. */
            expected?: string;
        };
    };
    responses: {
        /** @description The request is malformed, a parameter is invalid, or it carries two credentials. */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "malformed-request" | "invalid-key" | "ambiguous-credentials";
                };
            };
        };
        /** @description No credential, or one that is not valid. */
        Unauthenticated: {
            headers: {
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "unauthenticated" | "invalid-token";
                };
            };
        };
        /**
         * @description The name and password do not belong together, or the token is not valid. Or the session ended before the answer was sent
         *     (`unauthenticated`).
         */
        LoginRefused: {
            headers: {
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "invalid-credentials" | "invalid-token" | "unauthenticated";
                };
            };
        };
        /** @description The request came from a foreign site, or the token belongs to no user of this service. */
        LoginForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "csrf-rejected" | "identity-not-linked";
                };
            };
        };
        /**
         * @description The bearer token is good, and no user is linked to its issuer and subject. Or the request has the session cookie and came from a foreign
         *     site.
         */
        IdentityNotLinked: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "identity-not-linked" | "csrf-rejected";
                };
            };
        };
        /**
         * @description The operation needs a session, and the caller has none, or one of a kind that may not do this. Or the bearer token belongs to no user of
         *     this service, or the request came from a foreign site.
         */
        SessionOnly: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "csrf-rejected" | "forbidden" | "identity-not-linked";
                };
            };
        };
        /**
         * @description The operation needs a session and the caller came by other means, or the bearer token belongs to no user of this service. Or the request
         *     came from a foreign site.
         */
        SessionNeeded: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "forbidden" | "csrf-rejected" | "identity-not-linked";
                };
            };
        };
        /**
         * @description The session was signed in too long ago or opened with an access token, or the caller has none. Or the bearer token belongs to no user of
         *     this service, or the request came from a foreign site.
         */
        FreshSessionOnly: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "fresh-login-required" | "csrf-rejected" | "forbidden" | "identity-not-linked";
                };
            };
        };
        /**
         * @description The present password is wrong, the caller has no session or no password, or the session was opened with an access token. Or the bearer
         *     token belongs to no user of this service, or the request came from a foreign site.
         */
        PasswordForbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "credential-mismatch" | "csrf-rejected" | "forbidden" | "identity-not-linked";
                };
            };
        };
        /**
         * @description No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
         *     came from a foreign site.
         */
        Forbidden: {
            headers: {
                /** @description For a credential that is too narrow (RFC 6750). */
                "WWW-Authenticate"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "forbidden" | "field-forbidden" | "insufficient-scope" | "csrf-rejected" | "identity-not-linked";
                };
            };
        };
        /**
         * @description The answer opens no session: it is not one to a start of this browser, the provider refused, or what it says is not
         *     what it may say. Or a parameter is malformed.
         */
        SignInFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "malformed-request" | "ambiguous-credentials" | "sign-in-failed";
                };
            };
        };
        /** @description The user has signed in at the provider, but is no active user here. Or an identity was to be linked, and the session may link none. */
        NotLinked: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "identity-not-linked" | "forbidden";
                };
            };
        };
        /** @description There is no such thing, or the caller may not know of it. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "not-found";
                };
            };
        };
        /** @description Accept rules out the media types that the operation answers with. */
        NotAcceptable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "not-acceptable";
                };
            };
        };
        /** @description The user has as many live keys as may be, or the key has been replaced already. */
        KeyConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "conflict";
                };
            };
        };
        /** @description The identity is another user's, and stays so. */
        IdentityConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "conflict";
                };
            };
        };
        /** @description The user has no password and no other link to a trusted issuer, so could not sign in any more. */
        LastSignInMethod: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "last-sign-in-method";
                };
            };
        };
        /** @description Another refresh of this session was faster. Its cookie counts; repeat the request with that. */
        RefreshConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "refresh-conflict";
                };
            };
        };
        /**
         * @description Another entity has the value of a unique field; the fault's `detail` names its key to a caller who may read it. Or a request with the same
         *     Idempotency-Key is still under way: send it again a little later.
         */
        CreateConflict: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "unique-conflict" | "idempotency-in-progress";
                };
            };
        };
        /**
         * @description Other entities refer to the entity. The answer has the names and numbers of those that the caller may read. Or a request with the same
         *     Idempotency-Key is still under way; send it again a little later.
         */
        DeleteConflict: {
            headers: {
                /** @description Seconds to wait before the next try, if it helps to wait. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "still-referenced" | "idempotency-in-progress";
                };
            };
        };
        /**
         * @description A request with the same Idempotency-Key has taken effect before. Its answer cannot be given again: the history no longer has that version of the
         *     entity, or the caller may not reach it any more. Nothing was written again.
         */
        AnswerGone: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "answer-gone";
                };
            };
        };
        /** @description The version is no longer the one named in If-Match. */
        PreconditionFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "precondition-failed";
                };
            };
        };
        /** @description The entity's type requires If-Match, and the request has none. */
        PreconditionRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "precondition-required";
                };
            };
        };
        /** @description The body is larger than this operation takes. */
        ContentTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "content-too-large";
                };
            };
        };
        /** @description The body is of a type, charset or encoding that this operation does not take. */
        UnsupportedMediaType: {
            headers: {
                /** @description What the operation takes, where it is a POST. */
                "Accept-Post"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "unsupported-media-type";
                };
            };
        };
        /** @description Well-formed, but not what is asked for. */
        ValidationFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "validation-failed";
                };
            };
        };
        /** @description The fields do not fit the declared type, or the Idempotency-Key came with another request before. */
        CreateRefused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "validation-failed" | "idempotency-key-reused";
                };
            };
        };
        /** @description The Idempotency-Key came with another request before. */
        KeyReused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "idempotency-key-reused";
                };
            };
        };
        /** @description The filter, the sort, a field or an include is not accepted, or the query would cost too much. */
        QueryRefused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "validation-failed" | "query-too-expensive";
                };
            };
        };
        /** @description The new password does not meet the policy, or its repeat differs. */
        PasswordRejected: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "password-rejected";
                };
            };
        };
        /** @description Too many requests or failed attempts. */
        TooManyRequests: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "rate-limited";
                };
            };
        };
        /** @description Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request. */
        Unavailable: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "unavailable" | "busy" | "issuer-unavailable" | "outcome-unknown";
                };
            };
        };
        /** @description A parameter is unknown, repeated or invalid. */
        HeadBadRequest: {
            headers: {
                "Problem-Code": components["headers"]["ProblemCode"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description No credential, or one that is not valid. */
        HeadUnauthenticated: {
            headers: {
                "Problem-Code": components["headers"]["ProblemCode"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The request came from a foreign site or was speculative, and the session goes on. Or the bearer token belongs to no user of this service. */
        HeadForbidden: {
            headers: {
                "Problem-Code": components["headers"]["ProblemCode"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Too many requests. */
        HeadTooManyRequests: {
            headers: {
                "Problem-Code": components["headers"]["ProblemCode"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Something the service depends on is out of reach. */
        HeadUnavailable: {
            headers: {
                "Problem-Code": components["headers"]["ProblemCode"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /**
         * @description Another entity has the value of a unique field; the fault's `detail` names its key to a caller who may read it. Or other entities keep one from
         *     being deleted. Or a request with the same Idempotency-Key is still under way; send it again a little later.
         */
        BatchConflict: {
            headers: {
                /** @description Seconds to wait before the next try, if it helps to wait. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "unique-conflict" | "still-referenced" | "idempotency-in-progress";
                };
            };
        };
        /** @description Stored entities do not fit the document, or a limit is exceeded. */
        TypeConflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "type-conflict";
                };
            };
        };
        /** @description The state at that time is no longer stored, or never existed. */
        PositionGone: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "position-gone";
                };
            };
        };
        /**
         * @description The change loses something, or hides or shows a field, and `confirm` is not the digest of its plan. Or stored entities do not fit the document, a limit
         *     is exceeded, other types refer to the one that is deleted, or a process of an older version would show a sensitive field.
         */
        ConfirmationRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {unknown} */
                    code?: "confirmation-required" | "older-version" | "type-conflict";
                };
            };
        };
    };
    parameters: {
        /**
         * @description The issuer's id.
         * @example corp
         */
        IssuerId: string;
        /**
         * @description The entity's name.
         * @example customer
         */
        EntityName: components["schemas"]["EntityName"];
        /**
         * @description The entity's key, in canonical decimal digits.
         * @example 42
         */
        EntityKey: components["schemas"]["Int64"];
        /** @description The version to retrieve instead of the present one. */
        Version: string;
        /**
         * @description The time at which the entity is wanted (RFC 3339), or a position that a `Content-Location` has named. No parameter goes along with it. Before the
         *     oldest state that is kept the answer is 410 `position-gone`.
         */
        AsOf: string;
        /** @description `only`: what is in the trash, instead of what is not deleted. Such entities have `deletedAt`, `deletedBy` and `expiresAt`. */
        Deleted: "only";
        /**
         * @description The API key's public handle, the twelve characters after `esk_`.
         * @example 4fT9xKq2LmZa
         */
        KeyId: components["schemas"]["KeyId"];
        /**
         * @description 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
         *     backslash precedes `"` and a backslash. The quotes are not part of the key.
         *
         *     A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
         *     name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
         *     them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
         *     `idempotency-in-progress`. A refusal is not stored.
         */
        IdempotencyKey: string;
        /**
         * @description Which entities: the JSON text of a `Filter`. A field without a declared type is compared with values of the same JSON type. `$in` has
         *     200 values at most.
         */
        Filter: string;
        /**
         * @description Up to four fields, separated by commas; `-` in front sorts descending, a dot leads into an object. `$key`, `$version`, `$createdAt`,
         *     `$createdBy`, `$updatedAt` and `$updatedBy` are not fields and sort, too. By default the list is sorted by `$key`, and entities that
         *     are equal by the sort are in the order of their keys. Entities without a value come last, descending first.
         */
        Sort: string;
        /** @description The most items of a page, 1 to 1000; 50 without it. */
        Limit: string;
        /** @description The `next` or `prev` of a page, to get the page after or before it. The other parameters but `limit`, `fields`, `include` and `count` must be the same. */
        Cursor: string;
        /** @description Of the file. Without it the header decides, `Accept` or `Content-Type`; NDJSON if both will do. */
        TransferFormat: "ndjson" | "csv";
        /** @description The fields to send, up to 50, separated by commas; a dot leads into an object. Without it all are sent. */
        FieldNames: string;
        /**
         * @description Words that the entities must have in the texts that the `x-search` of the declared type names, as a web search reads them: all words,
         *     `"a phrase"`, `or`, and `-` in front of a word for none. A word finds the words that begin with it, without regard to case and accents. Without `sort` the best matches come first if there are at most 10,000, else
         *     the list is by key. A name without `x-search` is 422.
         */
        Search: string;
        /**
         * @description The references to follow, up to five, separated by commas: fields in the `x-references` of the declared type. A dot leads into an
         *     object, or from a reference to one of the entities that it leads to. The entities come in `included`, each once, those of the way
         *     as well. One that does not exist or that the caller may not read is in `withheld`.
         */
        Include: string;
        /**
         * @description Whether names of entities come beside them, of types with `x-label`: `label` of each entity, and `labels` of those that references lead to. The caller sees
         *     the names that its actions `label` and `read` cover. A page has at most 5,000 names, and ends before the item that has more.
         */
        Labels: components["schemas"]["Flag"];
        /**
         * @description Whether to count what the filter finds. `capped` counts up to 10,000. `estimated` also counts up to 10,000 and estimates beyond,
         *     for a caller who may read the entities of all users. `exact` counts all. Each is 503 `busy` after two seconds, and sending it again may help: the bound is on what is found, not on what is looked at.
         */
        Count: "none" | "capped" | "estimated" | "exact";
        /**
         * @description The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
         *     lack changes of the last two seconds, or of the time that the operator allows.
         */
        ConsistencyToken: string;
        /** @description Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same. */
        IfMatch: string;
        /** @description Answer 304 if the entity's ETag is one of these. */
        IfNoneMatch: string;
        /** @description Act only if the type's ETag is one of these; `*` if there is a type. A tag that a proxy has made weak, `W/"7"`, counts as the same. */
        TypeIfMatch: string;
        /** @description `*`: act only if the name has no type. */
        TypeIfNoneMatch: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The type's revision as a strong entity tag.
         * @example "7"
         */
        TypeETag: string;
        /**
         * @description The entity's version as a strong entity tag.
         * @example "3"
         */
        ETag: string;
        /**
         * @description The entity's version as a strong entity tag. With `include` 20 digits of a hash of the answer follow. `If-Match` takes either and compares
         *     the version.
         * @example "3"
         */
        ViewETag: string;
        /**
         * @description An entity tag of the page; weak where its cursors say how new it is, which the tag leaves out.
         * @example "uU0nuZNNPgilLlLX2n2r-s"
         */
        PageETag: string;
        /** @description Seconds to wait before the next try. */
        RetryAfter: number;
        /** @description How to authenticate (RFC 9110). */
        WwwAuthenticate: string;
        /** @description The problem's code, since an answer to HEAD has no body. */
        ProblemCode: components["schemas"]["ProblemCode"];
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getSession: {
        parameters: {
            query?: {
                /** @description Add the roles of the active profile. */
                roles?: components["schemas"]["Flag"];
                /** @description Add the user's profiles. */
                profiles?: components["schemas"]["Flag"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who is calling, and the server. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfo"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["IdentityNotLinked"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description How the user signs in. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["SessionRequest"];
                "application/json": components["schemas"]["SessionRequest"];
            };
        };
        responses: {
            /** @description The session is open. */
            200: {
                headers: {
                    /** @description The session cookie. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfo"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["LoginRefused"];
            403: components["responses"]["LoginForbidden"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    endSession: {
        parameters: {
            query?: {
                /** @description End the session. */
                logout?: components["schemas"]["Flag"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description There is a live session or another valid credential; nothing has changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The session is over; no token of it works any more. */
            204: {
                headers: {
                    /** @description The request headers the answer depended on. */
                    Vary: string;
                    /** @description Clears the session cookie. */
                    "Set-Cookie": string;
                    /**
                     * @description Where the browser can go to end the session at the provider as well that the ended one was opened through, with
                     *     `rel="https://openid.net/specs/openid-connect-rpinitiated-1_0.html"`.
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HeadBadRequest"];
            401: components["responses"]["HeadUnauthenticated"];
            403: components["responses"]["HeadForbidden"];
            429: components["responses"]["HeadTooManyRequests"];
            503: components["responses"]["HeadUnavailable"];
        };
    };
    refreshSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session goes on under a new cookie. */
            200: {
                headers: {
                    /** @description The new session cookie. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfo"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["SessionOnly"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["RefreshConflict"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The live sessions, the one that asks among them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["SessionNeeded"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeOtherSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The others are over. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionsEnded"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["SessionOnly"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The session's public handle.
                 * @example 9f1c2a34-58d0-4b6e-9a71-0c5d8e3f2b17
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is over. */
            204: {
                headers: {
                    /** @description Clears the session cookie, where the session was the one that asked. */
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["SessionOnly"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    listProfiles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profiles, by name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["IdentityNotLinked"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    selectDefaultProfile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session acts under the profile. */
            200: {
                headers: {
                    /** @description The new session cookie. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfo"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["SessionOnly"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["RefreshConflict"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    selectProfile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The profile's name.
                 * @example sales
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session acts under the profile. */
            200: {
                headers: {
                    /** @description The new session cookie. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionInfo"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["SessionOnly"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["RefreshConflict"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkOwnPermission: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The request that the caller thinks of. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PermissionQuestion"];
            };
        };
        responses: {
            /** @description The explanation. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PermissionAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["IdentityNotLinked"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The present and the new password. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description The password is changed. */
            204: {
                headers: {
                    /** @description The new session cookie. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PasswordForbidden"];
            409: components["responses"]["RefreshConflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["PasswordRejected"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The live keys. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["SessionNeeded"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The name of the key, and what limits it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyRequest"];
            };
        };
        responses: {
            /** @description The key, shown this once. */
            201: {
                headers: {
                    /** @description Where the key is revoked. */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["FreshSessionOnly"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["KeyConflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The API key's public handle, the twelve characters after `esk_`.
                 * @example 4fT9xKq2LmZa
                 */
                id: components["parameters"]["KeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is dead. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["FreshSessionOnly"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The API key's public handle, the twelve characters after `esk_`.
                 * @example 4fT9xKq2LmZa
                 */
                id: components["parameters"]["KeyId"];
            };
            cookie?: never;
        };
        /** @description May be left out. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: {
            /** @description The key, shown this once. */
            201: {
                headers: {
                    /** @description Where the key is revoked. */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["FreshSessionOnly"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["KeyConflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    listIssuers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The providers, in the order of the operator's file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuerList"];
                };
            };
            400: components["responses"]["BadRequest"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    startOpenIdSignIn: {
        parameters: {
            query?: {
                /**
                 * @description Where to go in the end: a path on this service's origin, with a query if need be, in printable ASCII. Anything else counts as `/`.
                 * @example /auth
                 */
                return_to?: string;
                /** @description Have the provider ask its user to sign in anew, for operations that need a recent sign-in. */
                fresh?: components["schemas"]["Flag"];
                /** @description Have the provider let its user choose the account, as after a logout. */
                choose?: components["schemas"]["Flag"];
                /**
                 * @description The issuer, sent by another party that begins the sign-in; it must be the one of the path.
                 * @example https://login.example.com
                 */
                iss?: string;
                /**
                 * @description Text about the user, such as a login name, which is passed on to the provider.
                 * @example ada@example.com
                 */
                login_hint?: string;
                /**
                 * @description Where to go in the end, sent by another party in place of `return_to`: a URL on this service's origin. Anything else counts as `/`.
                 * @example http://localhost:3000/auth
                 */
                target_link_uri?: string;
                /** @description The service has sent the browser here from another name of its host, and does not do so again. */
                redirected?: components["schemas"]["Flag"];
            };
            header?: never;
            path: {
                /**
                 * @description The issuer's id.
                 * @example corp
                 */
                issuer: components["parameters"]["IssuerId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The browser goes to the provider. */
            303: {
                headers: {
                    /** @description The provider's authorization endpoint, with the request. */
                    Location: string;
                    /** @description Binds the browser to this sign-in. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description The browser has opened the service under another host than that of `PUBLIC_URL`, to which the provider would return it without the cookie.
             *     It begins the sign-in there.
             */
            307: {
                headers: {
                    /** @description The same request at `PUBLIC_URL`, with `redirected=1`. */
                    Location: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    initiateOpenIdSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The issuer's id.
                 * @example corp
                 */
                issuer: components["parameters"]["IssuerId"];
            };
            cookie?: never;
        };
        /** @description The issuer and the user of the sign-in that another party begins. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["InitiatedSignIn"];
            };
        };
        responses: {
            /** @description The browser goes to the start of the sign-in at `PUBLIC_URL`. */
            303: {
                headers: {
                    /** @description The start, with the fields of the form. */
                    Location: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
        };
    };
    finishOpenIdSignIn: {
        parameters: {
            query: {
                /**
                 * @description What the start gave to the provider.
                 * @example 3Yw2vEwTqUYbBWc0XcN7c1VQ5aHqNnFZJ1mQ8r5sT0k
                 */
                state: string;
            };
            header?: never;
            path: {
                /**
                 * @description The issuer's id.
                 * @example corp
                 */
                issuer: components["parameters"]["IssuerId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is open, or the identity linked, and the browser goes where the start was told to. */
            303: {
                headers: {
                    /** @description A path on this service's origin. */
                    Location: string;
                    /** @description The session cookie, where a session was opened, and the one that tied this browser to what it began. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["SignInFailed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["NotLinked"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["IdentityConflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    linkIdentity: {
        parameters: {
            query?: {
                /**
                 * @description Where to go in the end, as for `startOpenIdSignIn`.
                 * @example /auth
                 */
                return_to?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The issuer's id.
                 * @example corp
                 */
                issuer: components["parameters"]["IssuerId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where to send the browser. */
            200: {
                headers: {
                    /** @description Binds the browser to what it begins. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderAddress"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["FreshSessionOnly"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    listIdentities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["SessionNeeded"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlinkIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The link's public handle.
                 * @example 4b1d6f0e-93c2-4a57-8d0b-6e2f7a9c5d31
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The identity is linked no more. */
            204: {
                headers: {
                    /** @description Clears the session cookie, where the session that asked was opened through the identity. */
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["FreshSessionOnly"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["LastSignInMethod"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    logoutFromProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The issuer's id.
                 * @example corp
                 */
                issuer: components["parameters"]["IssuerId"];
            };
            cookie?: never;
        };
        /** @description The logout token. */
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["ProviderLogout"];
            };
        };
        responses: {
            /** @description What the token names is over. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEntities: {
        parameters: {
            query?: {
                /**
                 * @description Which entities: the JSON text of a `Filter`. A field without a declared type is compared with values of the same JSON type. `$in` has
                 *     200 values at most.
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description Words that the entities must have in the texts that the `x-search` of the declared type names, as a web search reads them: all words,
                 *     `"a phrase"`, `or`, and `-` in front of a word for none. A word finds the words that begin with it, without regard to case and accents. Without `sort` the best matches come first if there are at most 10,000, else
                 *     the list is by key. A name without `x-search` is 422.
                 */
                search?: components["parameters"]["Search"];
                /**
                 * @description Up to four fields, separated by commas; `-` in front sorts descending, a dot leads into an object. `$key`, `$version`, `$createdAt`,
                 *     `$createdBy`, `$updatedAt` and `$updatedBy` are not fields and sort, too. By default the list is sorted by `$key`, and entities that
                 *     are equal by the sort are in the order of their keys. Entities without a value come last, descending first.
                 */
                sort?: components["parameters"]["Sort"];
                /** @description The most items of a page, 1 to 1000; 50 without it. */
                limit?: components["parameters"]["Limit"];
                /** @description The `next` or `prev` of a page, to get the page after or before it. The other parameters but `limit`, `fields`, `include` and `count` must be the same. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The fields to send, up to 50, separated by commas; a dot leads into an object. Without it all are sent. */
                fields?: components["parameters"]["FieldNames"];
                /**
                 * @description The references to follow, up to five, separated by commas: fields in the `x-references` of the declared type. A dot leads into an
                 *     object, or from a reference to one of the entities that it leads to. The entities come in `included`, each once, those of the way
                 *     as well. One that does not exist or that the caller may not read is in `withheld`.
                 */
                include?: components["parameters"]["Include"];
                /**
                 * @description Whether names of entities come beside them, of types with `x-label`: `label` of each entity, and `labels` of those that references lead to. The caller sees
                 *     the names that its actions `label` and `read` cover. A page has at most 5,000 names, and ends before the item that has more.
                 */
                labels?: components["parameters"]["Labels"];
                /**
                 * @description Whether to count what the filter finds. `capped` counts up to 10,000. `estimated` also counts up to 10,000 and estimates beyond,
                 *     for a caller who may read the entities of all users. `exact` counts all. Each is 503 `busy` after two seconds, and sending it again may help: the bound is on what is found, not on what is looked at.
                 */
                count?: components["parameters"]["Count"];
                /** @description `only`: what is in the trash, instead of what is not deleted. Such entities have `deletedAt`, `deletedBy` and `expiresAt`. */
                deleted?: components["parameters"]["Deleted"];
            };
            header?: {
                /** @description Answer 304 if the page's ETag is one of these. */
                "If-None-Match"?: string;
                /**
                 * @description The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
                 *     lack changes of the last two seconds, or of the time that the operator allows.
                 */
                "Consistency-Token"?: components["parameters"]["ConsistencyToken"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entities. */
            200: {
                headers: {
                    ETag: components["headers"]["PageETag"];
                    /**
                     * @description How new the answer is, where the service reads from a standby too: `primary`, or `bounded` and for how many seconds the standby may have lacked
                     *     changes of others. What the `Consistency-Token` of the request stands for is in either. It is not there where the service has no standby.
                     */
                    Consistency?: string;
                    /** @description The pages after and before this one, as `rel="next"` and `rel="prev"` (RFC 8288); left out above 4,096 characters. */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityPage"];
                };
            };
            /** @description The client's copy of the page is current. */
            304: {
                headers: {
                    ETag: components["headers"]["PageETag"];
                    /**
                     * @description How new the answer is, where the service reads from a standby too: `primary`, or `bounded` and for how many seconds the standby may have lacked
                     *     changes of others. What the `Consistency-Token` of the request stands for is in either. It is not there where the service has no standby.
                     */
                    Consistency?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            422: components["responses"]["QueryRefused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    createEntity: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
                 *     backslash precedes `"` and a backslash. The quotes are not part of the key.
                 *
                 *     A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
                 *     name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
                 *     them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
                 *     `idempotency-in-progress`. A refusal is not stored.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description The fields, a JSON object. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Fields"];
            };
        };
        responses: {
            /** @description The entity is stored. */
            201: {
                headers: {
                    /** @description Where the entity is. */
                    Location: string;
                    ETag: components["headers"]["ETag"];
                    /** @description There when an earlier request with the same Idempotency-Key did it, and this answer repeats that one. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Where the log of the database is after this write. A read that sends it back sees the write. It is not there where the service has no standby. */
                    "Consistency-Token"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["CreateConflict"];
            410: components["responses"]["AnswerGone"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["CreateRefused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    queryEntities: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
                 *     lack changes of the last two seconds, or of the time that the operator allows.
                 */
                "Consistency-Token"?: components["parameters"]["ConsistencyToken"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description What to list; all members are optional. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntityQuery"];
            };
        };
        responses: {
            /** @description A page of entities. */
            200: {
                headers: {
                    ETag: components["headers"]["PageETag"];
                    /**
                     * @description How new the answer is, where the service reads from a standby too: `primary`, or `bounded` and for how many seconds the standby may have lacked
                     *     changes of others. What the `Consistency-Token` of the request stands for is in either. It is not there where the service has no standby.
                     */
                    Consistency?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["QueryRefused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    aggregateEntities: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
                 *     lack changes of the last two seconds, or of the time that the operator allows.
                 */
                "Consistency-Token"?: components["parameters"]["ConsistencyToken"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description What to aggregate. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntityAggregation"];
            };
        };
        responses: {
            /** @description The groups. */
            200: {
                headers: {
                    /**
                     * @description How new the answer is, where the service reads from a standby too: `primary`, or `bounded` and for how many seconds the standby may have lacked
                     *     changes of others. What the `Consistency-Token` of the request stands for is in either. It is not there where the service has no standby.
                     */
                    Consistency?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityAggregated"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["QueryRefused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    createEntities: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
                 *     backslash precedes `"` and a backslash. The quotes are not part of the key.
                 *
                 *     A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
                 *     name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
                 *     them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
                 *     `idempotency-in-progress`. A refusal is not stored.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description The fields of each entity. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["FieldsList"];
            };
        };
        responses: {
            /** @description All are created. */
            200: {
                headers: {
                    /** @description There when an earlier request with the same Idempotency-Key did it, and this answer repeats that one. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Where the log of the database is after this write. A read that sends it back sees the write. It is not there where the service has no standby. */
                    "Consistency-Token"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedEntities"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["CreateConflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["CreateRefused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    upsertEntity: {
        parameters: {
            query: {
                /**
                 * @description The fields of a unique rule, with commas between and dots into objects.
                 * @example company
                 */
                by: string;
            };
            header?: {
                /**
                 * @description 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
                 *     backslash precedes `"` and a backslash. The quotes are not part of the key.
                 *
                 *     A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
                 *     name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
                 *     them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
                 *     `idempotency-in-progress`. A refusal is not stored.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description `*`: act only if no entity has these values. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description The fields, a JSON object. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Fields"];
            };
        };
        responses: {
            /** @description The entity. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    /** @description There when an earlier request with the same Idempotency-Key did it, and this answer repeats that one. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Where the log of the database is after this write. A read that sends it back sees the write. It is not there where the service has no standby. */
                    "Consistency-Token"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            /** @description The entity is stored. */
            201: {
                headers: {
                    /** @description Where the entity is. */
                    Location: string;
                    ETag: components["headers"]["ETag"];
                    /** @description There when an earlier request with the same Idempotency-Key did it, and this answer repeats that one. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Where the log of the database is after this write. A read that sends it back sees the write. It is not there where the service has no standby. */
                    "Consistency-Token"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["CreateConflict"];
            410: components["responses"]["AnswerGone"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["CreateRefused"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEntity: {
        parameters: {
            query?: {
                /** @description The fields to send, up to 50, separated by commas; a dot leads into an object. Without it all are sent. */
                fields?: components["parameters"]["FieldNames"];
                /**
                 * @description The references to follow, up to five, separated by commas: fields in the `x-references` of the declared type. A dot leads into an
                 *     object, or from a reference to one of the entities that it leads to. The entities come in `included`, each once, those of the way
                 *     as well. One that does not exist or that the caller may not read is in `withheld`.
                 */
                include?: components["parameters"]["Include"];
                /**
                 * @description Whether names of entities come beside them, of types with `x-label`: `label` of each entity, and `labels` of those that references lead to. The caller sees
                 *     the names that its actions `label` and `read` cover. A page has at most 5,000 names, and ends before the item that has more.
                 */
                labels?: components["parameters"]["Labels"];
                /** @description The version to retrieve instead of the present one. */
                version?: components["parameters"]["Version"];
                /**
                 * @description The time at which the entity is wanted (RFC 3339), or a position that a `Content-Location` has named. No parameter goes along with it. Before the
                 *     oldest state that is kept the answer is 410 `position-gone`.
                 */
                asOf?: components["parameters"]["AsOf"];
                /** @description `only`: what is in the trash, instead of what is not deleted. Such entities have `deletedAt`, `deletedBy` and `expiresAt`. */
                deleted?: components["parameters"]["Deleted"];
            };
            header?: {
                /** @description Answer 304 if the entity's ETag is one of these. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
                /**
                 * @description The entity's key, in canonical decimal digits.
                 * @example 42
                 */
                key: components["parameters"]["EntityKey"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entity. */
            200: {
                headers: {
                    ETag: components["headers"]["ViewETag"];
                    /** @description With `asOf` the place of this state of the entity, which stays the same. */
                    "Content-Location"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityView"];
                };
            };
            /** @description The client's copy is current. */
            304: {
                headers: {
                    ETag: components["headers"]["ViewETag"];
                    /** @description With `asOf` the place of this state of the entity, which stays the same. */
                    "Content-Location"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["PositionGone"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateEntity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
                 *     backslash precedes `"` and a backslash. The quotes are not part of the key.
                 *
                 *     A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
                 *     name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
                 *     them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
                 *     `idempotency-in-progress`. A refusal is not stored.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
                /**
                 * @description The entity's key, in canonical decimal digits.
                 * @example 42
                 */
                key: components["parameters"]["EntityKey"];
            };
            cookie?: never;
        };
        /** @description The fields, a JSON object. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Fields"];
            };
        };
        responses: {
            /** @description The entity. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    /** @description There when an earlier request with the same Idempotency-Key did it, and this answer repeats that one. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Where the log of the database is after this write. A read that sends it back sees the write. It is not there where the service has no standby. */
                    "Consistency-Token"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["CreateConflict"];
            410: components["responses"]["AnswerGone"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["CreateRefused"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteEntity: {
        parameters: {
            query?: {
                /** @description Remove what is stored of the entity for good. */
                purge?: components["schemas"]["Flag"];
            };
            header?: {
                /** @description Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
                 *     backslash precedes `"` and a backslash. The quotes are not part of the key.
                 *
                 *     A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
                 *     name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
                 *     them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
                 *     `idempotency-in-progress`. A refusal is not stored.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
                /**
                 * @description The entity's key, in canonical decimal digits.
                 * @example 42
                 */
                key: components["parameters"]["EntityKey"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entity is gone. */
            204: {
                headers: {
                    /** @description There when an earlier request with the same Idempotency-Key did it, and this answer repeats that one. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Where the log of the database is after this write. A read that sends it back sees the write. It is not there where the service has no standby. */
                    "Consistency-Token"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["DeleteConflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            422: components["responses"]["KeyReused"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    listVersions: {
        parameters: {
            query?: {
                /** @description The most versions of the page, 1 to 100; 20 without it. 8 MiB may allow fewer. */
                limit?: string;
                /** @description The `next` of a page, to get the page after it. */
                cursor?: string;
                /**
                 * @description Whether names of entities come beside them, of types with `x-label`: `label` of each entity, and `labels` of those that references lead to. The caller sees
                 *     the names that its actions `label` and `read` cover. A page has at most 5,000 names, and ends before the item that has more.
                 */
                labels?: components["parameters"]["Labels"];
            };
            header?: {
                /**
                 * @description The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
                 *     lack changes of the last two seconds, or of the time that the operator allows.
                 */
                "Consistency-Token"?: components["parameters"]["ConsistencyToken"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
                /**
                 * @description The entity's key, in canonical decimal digits.
                 * @example 42
                 */
                key: components["parameters"]["EntityKey"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The versions. */
            200: {
                headers: {
                    /**
                     * @description How new the answer is, where the service reads from a standby too: `primary`, or `bounded` and for how many seconds the standby may have lacked
                     *     changes of others. What the `Consistency-Token` of the request stands for is in either. It is not there where the service has no standby.
                     */
                    Consistency?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityHistory"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    restoreEntity: {
        parameters: {
            query?: {
                /**
                 * @description The version whose fields the entity gets. Without it an entity in the trash gets the last ones.
                 * @example 1
                 */
                version?: string;
            };
            header?: {
                /** @description Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /**
                 * @description 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
                 *     backslash precedes `"` and a backslash. The quotes are not part of the key.
                 *
                 *     A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
                 *     name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
                 *     them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
                 *     `idempotency-in-progress`. A refusal is not stored.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
                /**
                 * @description The entity's key, in canonical decimal digits.
                 * @example 42
                 */
                key: components["parameters"]["EntityKey"];
            };
            cookie?: never;
        };
        /** @description A JSON merge patch of the restored fields. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Fields"];
            };
        };
        responses: {
            /** @description The entity, in its new version. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    /** @description There when an earlier request with the same Idempotency-Key did it, and this answer repeats that one. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Where the log of the database is after this write. A read that sends it back sees the write. It is not there where the service has no standby. */
                    "Consistency-Token"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entity"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["CreateConflict"];
            410: components["responses"]["AnswerGone"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["CreateRefused"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    runBatch: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
                 *     backslash precedes `"` and a backslash. The quotes are not part of the key.
                 *
                 *     A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
                 *     name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
                 *     them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
                 *     `idempotency-in-progress`. A refusal is not stored.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description `dry-run` (RFC 7240), without a value, tries the batch and writes nothing. Other preferences are ignored. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The operations. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["Batch"];
            };
        };
        responses: {
            /** @description The outcome of each operation. */
            200: {
                headers: {
                    /** @description There when an earlier request with the same Idempotency-Key did it, and this answer repeats that one. */
                    "Idempotency-Replayed"?: "true";
                    /** @description Where the log of the database is after this write. A read that sends it back sees the write. It is not there where the service has no standby. */
                    "Consistency-Token"?: string;
                    /** @description The preference that was heeded; left out without one. */
                    "Preference-Applied"?: "dry-run";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchResults"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["BatchConflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["CreateRefused"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportEntities: {
        parameters: {
            query?: {
                /** @description Of the file. Without it the header decides, `Accept` or `Content-Type`; NDJSON if both will do. */
                format?: components["parameters"]["TransferFormat"];
                /**
                 * @description Which entities: the JSON text of a `Filter`. A field without a declared type is compared with values of the same JSON type. `$in` has
                 *     200 values at most.
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description Words that the entities must have in the texts that the `x-search` of the declared type names, as a web search reads them: all words,
                 *     `"a phrase"`, `or`, and `-` in front of a word for none. A word finds the words that begin with it, without regard to case and accents. Without `sort` the best matches come first if there are at most 10,000, else
                 *     the list is by key. A name without `x-search` is 422.
                 */
                search?: components["parameters"]["Search"];
                /**
                 * @description Up to four fields, separated by commas; `-` in front sorts descending, a dot leads into an object. `$key`, `$version`, `$createdAt`,
                 *     `$createdBy`, `$updatedAt` and `$updatedBy` are not fields and sort, too. By default the list is sorted by `$key`, and entities that
                 *     are equal by the sort are in the order of their keys. Entities without a value come last, descending first.
                 */
                sort?: components["parameters"]["Sort"];
                /** @description The fields to send, up to 50, separated by commas; a dot leads into an object. Without it all are sent. */
                fields?: components["parameters"]["FieldNames"];
                /**
                 * @description `true` puts an apostrophe in front of texts and names of columns that begin with `=`, `+`, `-`, `@`, tab or carriage return, also after
                 *     apostrophes. Spreadsheets take such texts for formulas. Numbers, and the values of the formats `decimal` and `int64`, stay as they are. An
                 *     import with `csvSafe=true` removes the apostrophes.
                 */
                csvSafe?: "true" | "false";
                /** @description The separator of the cells of CSV. */
                delimiter?: "comma" | "semicolon" | "tab";
                /** @description `true` begins CSV with a byte order mark, by which Excel recognises UTF-8. */
                bom?: "true" | "false";
            };
            header?: {
                /**
                 * @description The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
                 *     lack changes of the last two seconds, or of the time that the operator allows.
                 */
                "Consistency-Token"?: components["parameters"]["ConsistencyToken"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entities. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            422: components["responses"]["QueryRefused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportQuery: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
                 *     lack changes of the last two seconds, or of the time that the operator allows.
                 */
                "Consistency-Token"?: components["parameters"]["ConsistencyToken"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description The entities to export, and the form of the file; all members are optional. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntityExport"];
            };
        };
        responses: {
            /** @description The entities. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["QueryRefused"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    importEntities: {
        parameters: {
            query?: {
                /** @description Of the file. Without it the header decides, `Accept` or `Content-Type`; NDJSON if both will do. */
                format?: components["parameters"]["TransferFormat"];
                /**
                 * @description Keys and versions in a file that another database has exported. `refuse`: a row that depends on one is refused. `keep`: they count, as
                 *     if this database had exported the file.
                 */
                keys?: "refuse" | "keep";
                /**
                 * @description The fields of a unique rule, with commas between and dots into objects. Entities with the values of a row are updated. `$key`: the entity
                 *     with the key of the row is updated, and a row without a key creates one. A key of no entity is refused.
                 */
                by?: string;
                /**
                 * @description How a row changes the entity that it updates. `update`: its members replace those of the entity, inside of objects too, and the others stay.
                 *     A field whose cell is empty is removed. `replace`: a row has all fields of the entity; others are removed. `merge`: it is merged into them, as
                 *     by `updateEntity`, so that null removes.
                 */
                mode?: "update" | "replace" | "merge";
                /** @description `true` writes nothing, and reports what an import would do. */
                dryRun?: "true" | "false";
                /** @description The first row that counts, to go on after an import that ended early. Rows are lines in NDJSON; the header of CSV is row 1. */
                fromRow?: string;
                /** @description The separator of the cells of CSV. */
                delimiter?: "comma" | "semicolon" | "tab";
                /** @description `true` removes the apostrophes that an export with `csvSafe=true` has put in front of texts and names of columns. */
                csvSafe?: "true" | "false";
            };
            header?: never;
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description The file. */
        requestBody: {
            content: {
                "application/x-ndjson": string;
                "text/csv": string;
            };
        };
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEntityTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The types. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityTypeList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEntityType: {
        parameters: {
            query?: never;
            header?: {
                /** @description Answer 304 if the type's ETag is one of these. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The type. */
            200: {
                headers: {
                    ETag: components["headers"]["TypeETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityType"];
                };
            };
            /** @description The client's copy is current. */
            304: {
                headers: {
                    ETag: components["headers"]["TypeETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    putEntityType: {
        parameters: {
            query?: {
                /** @description Accept stored entities that do not fit. */
                allowUnfit?: components["schemas"]["Flag"];
                /** @description The digest of the plan, for a change with the effect `narrow`, `widen` or `loss`. */
                confirm?: string;
            };
            header?: {
                /** @description Act only if the type's ETag is one of these; `*` if there is a type. A tag that a proxy has made weak, `W/"7"`, counts as the same. */
                "If-Match"?: components["parameters"]["TypeIfMatch"];
                /** @description `*`: act only if the name has no type. */
                "If-None-Match"?: components["parameters"]["TypeIfNoneMatch"];
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description The type's document, a JSON Schema (2020-12). */
        requestBody: {
            content: {
                "application/json": components["schemas"]["TypeDocument"];
            };
        };
        responses: {
            /** @description The type. */
            200: {
                headers: {
                    ETag: components["headers"]["TypeETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityType"];
                };
            };
            /** @description The name has a type from now on. */
            201: {
                headers: {
                    /** @description Where the type is. */
                    Location: string;
                    ETag: components["headers"]["TypeETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityType"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["ConfirmationRequired"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            428: components["responses"]["PreconditionRequired"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteEntityType: {
        parameters: {
            query?: {
                /** @description The digest of the plan. */
                confirm?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The name has no type any more. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["ConfirmationRequired"];
            413: components["responses"]["ContentTooLarge"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    planEntityType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        /** @description The new document; none for the deletion of the type. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["TypeChange"];
            };
        };
        responses: {
            /** @description The plan. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TypePlan"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["TypeConflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
    describeEntity: {
        parameters: {
            query?: never;
            header?: {
                /** @description Answer 304 if the description's ETag is one of these. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The entity's name.
                 * @example customer
                 */
                name: components["parameters"]["EntityName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The description. */
            200: {
                headers: {
                    /** @description A hash of the description. */
                    ETag: string;
                    /** @description The request headers the answer depended on. */
                    Vary: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityDescription"];
                };
            };
            /** @description The client's copy is current. */
            304: {
                headers: {
                    /** @description A hash of the description. */
                    ETag: string;
                    /** @description The request headers the answer depended on. */
                    Vary: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
        };
    };
}
