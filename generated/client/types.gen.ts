// Generated from openapi.yaml by `npm run generate`. Do not edit.

export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

/**
 * The only accepted value is 1.
 */
export type Flag = '1';

/**
 * A 64-bit integer in canonical decimal digits, as text so that no client rounds it (RFC 7493).
 */
export type Int64 = string;

/**
 * A letter, then up to 63 letters, digits, underscores, dots and hyphens.
 */
export type EntityName = string;

/**
 * A BCP 47 language tag.
 */
export type Locale = string;

/**
 * RFC 3339, UTC.
 */
export type Timestamp = string;

/**
 * A sign-in with a name and a password, or with an access token of an issuer.
 */
export type SessionRequest = {
    /**
     * The user name, for login by password.
     */
    user?: string;
    /**
     * The password.
     */
    password?: string;
    locale?: Locale;
    /**
     * The id or URL of a trusted issuer, for login by its access token.
     */
    oidcIssuer?: string;
    /**
     * The access token, where it is not in the Authorization header.
     */
    access_token?: string;
};

/**
 * The present password, and the new one twice.
 */
export type PasswordChange = {
    /**
     * The present password.
     */
    'current-password': string;
    /**
     * The new password.
     */
    'set-password': string;
    /**
     * The new password once more.
     */
    'confirm-password': string;
};

/**
 * Who is calling, under which profile, in which session, on which server.
 */
export type SessionInfo = {
    user: User;
    /**
     * The active profile; null for a user who has none.
     */
    profile: ActiveProfile | null;
    claims: CallerValues;
    locale: Locale;
    authentication: Authentication;
    /**
     * The session; null for an API key and for a bearer token.
     */
    session: Session | null;
    server: Server;
    /**
     * Only with roles=1.
     */
    roles?: Array<Role>;
    /**
     * Only with profiles=1.
     */
    profiles?: Array<Profile>;
};

/**
 * The user.
 */
export type User = {
    /**
     * The unique name.
     */
    name: string;
    /**
     * The name to show.
     */
    displayName: string;
    /**
     * The name of a time zone of the IANA database; null for UTC.
     */
    timeZone: string | null;
    attributes: CallerValues;
};

/**
 * Values that rules compare with fields of entities, by name: attributes of the user or of the profile, which an administrator sets, or the claims of the
 * issuer's newest token that this service reads. A value is a text, a number, true or false, or an array of these. A value that is not of its declared
 * type is left out.
 *
 */
export type CallerValues = {
    [key: string]: unknown;
};

/**
 * The profile whose roles grant.
 */
export type ActiveProfile = {
    /**
     * The unique name.
     */
    name: string;
    /**
     * The name to show.
     */
    label: string;
    /**
     * Whether it is the one a new session starts under.
     */
    default: boolean;
    attributes: CallerValues;
};

/**
 * How the caller was authenticated.
 */
export type Authentication = {
    /**
     * By which way.
     */
    method: 'password' | 'token' | 'openid' | 'api-key' | 'bearer';
    /**
     * The issuer of the token; null without one.
     */
    issuer: string | null;
    at: Timestamp;
    /**
     * Where the browser can go after a logout here to end the session at the provider as well; null without one.
     *
     */
    endSessionUrl: string | null;
};

/**
 * The session. The id is a public handle, never the value of the cookie.
 */
export type Session = {
    /**
     * The public handle.
     */
    id: string;
    createdAt: Timestamp;
    lastSeenAt: Timestamp;
    idleExpiresAt: Timestamp;
    expiresAt: Timestamp;
};

/**
 * The server.
 */
export type Server = {
    /**
     * The product.
     */
    name: string;
    /**
     * The version of this contract.
     */
    version: string;
    time: Timestamp;
    /**
     * The locales problems are described in.
     */
    locales: Array<Locale>;
    /**
     * The ways in that this server offers.
     */
    authentication: Array<'password' | 'api-key' | 'oauth2' | 'openid'>;
    /**
     * What a new password must be like, for a form to show.
     */
    password: {
        /**
         * Fewest characters.
         */
        minLength: number;
        /**
         * Most characters.
         */
        maxLength: number;
    };
};

/**
 * A named set of grants.
 */
export type Role = {
    /**
     * The unique name.
     */
    name: string;
    /**
     * What the role is for.
     */
    description: string;
    /**
     * The grants on any row, or on own ones.
     */
    grants: Array<Grant>;
    /**
     * The grants by rules, on some rows and fields.
     */
    rules: Array<GrantRule>;
};

/**
 * Actions on entities of one name, on the rows that fulfil a filter and on some of their fields.
 */
export type GrantRule = {
    /**
     * The name, unique within the role and the entity name.
     */
    name: string;
    /**
     * An entity name, or * for every one.
     */
    entity: string;
    /**
     * What may be done.
     */
    actions: Array<'create' | 'read' | 'update' | 'delete' | 'purge' | 'label'>;
    /**
     * The rows, as they are before a change; `$hidden` stands for a test of a field that no grant shows. Without it they are all.
     */
    filter?: {
        [key: string]: unknown;
    };
    /**
     * The condition on a row after a create, an update or a restore. Without it that is the filter.
     */
    check?: {
        [key: string]: unknown;
    };
    /**
     * The fields that answers show.
     */
    read?: Array<string>;
    /**
     * The fields that may change.
     */
    write?: Array<string>;
    /**
     * Values that fill absent members of a new entity.
     */
    set?: {
        [key: string]: unknown;
    };
};

/**
 * A request on entities of a name, or on one of them.
 */
export type PermissionQuestion = {
    entity: EntityName;
    key?: Int64;
    /**
     * The action. `create` and `type` take no `key`.
     */
    action?: 'create' | 'read' | 'update' | 'delete' | 'type' | 'purge' | 'label';
    set?: Fields;
};

/**
 * The explanation of the action, or of each action if the question names none.
 */
export type PermissionAnswer = Permission | PermissionList;

/**
 * The explanation of each action.
 */
export type PermissionList = {
    /**
     * The active profile; null for a user without one.
     */
    profile: string | null;
    /**
     * The explanations.
     */
    actions: Array<Permission>;
};

/**
 * How a request would be answered, and why.
 */
export type Permission = {
    /**
     * The action of the request.
     */
    action: 'create' | 'read' | 'update' | 'delete' | 'type' | 'purge' | 'label';
    /**
     * Whether the request would be done.
     */
    allowed: boolean;
    /**
     * The status of its answer.
     */
    status: number;
    /**
     * The code of the problem with which it would be refused.
     */
    code?: string;
    /**
     * The faults of that problem.
     */
    faults: Array<{
        /**
         * RFC 6901 pointer into the fields; empty for the entity as a whole.
         */
        pointer: string;
        /**
         * The code of the fault.
         */
        code: string;
    }>;
    /**
     * The active profile; null for a user without one.
     */
    profile: string | null;
    /**
     * The grants of the action. None for an entity that the caller may not read.
     */
    grants: Array<ExplainedGrant>;
    /**
     * The filter of the entities that the grants are about, with the values of the caller in place of variables; `$hidden` stands for tests of fields
     * that no grant shows. Left out without a grant.
     *
     */
    rows?: {
        [key: string]: unknown;
    };
    /**
     * The shown fields, for `create`, `read` and `update`. `*` stands for those that the type does not name.
     */
    fields?: {
        /**
         * The fields that a read shows, of this entity or of some.
         */
        readable: Array<string>;
        /**
         * The fields that the action may write.
         */
        writable: Array<string>;
    };
    /**
     * Conditions besides the grants. `scope`: the credential does not have the action. `if-match`: the request needs `If-Match`. `missing-variable`:
     * a rule compares with a value that the caller lacks.
     *
     */
    limits: Array<'scope' | 'if-match' | 'missing-variable'>;
};

/**
 * A grant, and what it finds on the entity. A finding is left out if nothing was tested, or if it would tell of a hidden value.
 */
export type ExplainedGrant = {
    /**
     * The name of the role.
     */
    role: string;
    /**
     * The name of the rule; `any` or `own` for a grant without one.
     */
    grant: string;
    /**
     * Whether its filter holds for the entity as it is.
     */
    covers?: boolean;
    /**
     * Whether its check holds for the entity afterwards.
     */
    check?: boolean;
    /**
     * The members of the rule that do not hold; empty texts for those about fields that are hidden here.
     */
    failed: Array<string>;
    /**
     * The fields that it lets the caller write, as the rule lists them.
     */
    write?: Array<string>;
};

/**
 * Actions on an entity.
 */
export type Grant = {
    /**
     * An entity name, or * for every one.
     */
    entity: string;
    /**
     * What may be done.
     */
    actions: Array<'create' | 'read' | 'update' | 'delete' | 'type' | 'purge' | 'label'>;
    /**
     * On any row, or only on rows the user created.
     */
    condition: 'any' | 'own';
};

/**
 * A named working context of a user.
 */
export type Profile = {
    /**
     * The unique name.
     */
    name: string;
    /**
     * The name to show.
     */
    label: string;
    /**
     * Whether it is the one a new session starts under.
     */
    default: boolean;
    /**
     * Whether it is the one this request acts under.
     */
    active: boolean;
    /**
     * The names of its roles.
     */
    roles: Array<string>;
};

/**
 * The user's profiles.
 */
export type ProfileList = {
    /**
     * By name.
     */
    profiles: Array<Profile>;
};

/**
 * A live session of the user. The id is a public handle, never the value of the cookie.
 */
export type OwnSession = {
    /**
     * The public handle.
     */
    id: string;
    createdAt: Timestamp;
    lastSeenAt: Timestamp;
    idleExpiresAt: Timestamp;
    expiresAt: Timestamp;
    /**
     * The network address it was opened from.
     */
    address: string | null;
    /**
     * What the client that opened it called itself, up to 256 characters.
     */
    userAgent: string | null;
    /**
     * By which way it was opened.
     */
    method: 'password' | 'token' | 'openid';
    /**
     * The issuer of the token it was opened with; null without one.
     */
    issuer: string | null;
    /**
     * The name of its active profile; null without one.
     */
    profile: string | null;
    /**
     * Whether it is the one that asks.
     */
    current: boolean;
};

/**
 * The user's live sessions.
 */
export type SessionList = {
    /**
     * The newest first.
     */
    sessions: Array<OwnSession>;
};

/**
 * How many sessions were ended.
 */
export type SessionsEnded = {
    /**
     * The sessions that were live until now.
     */
    ended: number;
};

/**
 * The providers to sign in at.
 */
export type IssuerList = {
    /**
     * In the order of the operator's file.
     */
    issuers: Array<SignInIssuer>;
};

/**
 * A provider to sign in at.
 */
export type SignInIssuer = {
    /**
     * Its id.
     */
    id: string;
    /**
     * Its name for people.
     */
    label: string;
    /**
     * Where to send a browser.
     */
    startUrl: string;
};

/**
 * An identity at an issuer that is linked to the user.
 */
export type LinkedIdentity = {
    /**
     * The link's public handle.
     */
    id: string;
    /**
     * The issuer's URL, as its tokens carry it in `iss`.
     */
    issuer: string;
    /**
     * The issuer's id; null for one that is no longer trusted.
     */
    issuerId: string | null;
    /**
     * The issuer's name for people; null for one that is no longer trusted.
     */
    label: string | null;
    /**
     * The user's id at the issuer (`sub`).
     */
    subject: string;
    linkedAt: Timestamp;
    /**
     * Whether the session that asks was opened through it.
     */
    current: boolean;
};

/**
 * The identities that are linked to the user.
 */
export type IdentityList = {
    /**
     * The newest link first.
     */
    identities: Array<LinkedIdentity>;
};

/**
 * An address at a provider.
 */
export type ProviderAddress = {
    /**
     * Where to send the browser, within ten minutes.
     */
    url: string;
};

/**
 * A sign-in that another party begins. Further fields are ignored, as the standard asks.
 */
export type InitiatedSignIn = {
    /**
     * The issuer; it must be the one of the path.
     */
    iss: string;
    /**
     * Text about the user, which is passed on to the provider.
     */
    login_hint?: string;
    /**
     * Where to go in the end; a URL on this service's origin.
     */
    target_link_uri?: string;
    [key: string]: unknown;
};

/**
 * What a provider says is over. Further fields are ignored, as the standard asks.
 */
export type ProviderLogout = {
    /**
     * Signed by the provider.
     */
    logout_token: string;
    [key: string]: unknown;
};

/**
 * The API key's public handle, the twelve characters after `esk_`.
 */
export type KeyId = string;

/**
 * What the key is for, without control characters. Need not be unique.
 */
export type KeyName = string;

/**
 * Actions on an entity. Scopes are a ceiling and grant nothing by themselves.
 */
export type Scope = {
    /**
     * An entity name, or * for every one that the roles grant the actions on.
     */
    entity: string;
    /**
     * What may be done.
     */
    actions: Array<'create' | 'read' | 'update' | 'delete' | 'type' | 'purge' | 'label'>;
};

/**
 * What the new key is for and what it may do.
 */
export type KeyRequest = {
    name: KeyName;
    /**
     * One of the user's profiles; without it the default one, whichever that is when the key is used.
     */
    profile?: string;
    /**
     * Narrows what the profile's roles allow; without it nothing is narrowed.
     */
    scopes?: Array<Scope>;
    /**
     * 90 if it is left out.
     */
    expiresInDays?: number;
};

/**
 * How to change over.
 */
export type KeyRotation = {
    /**
     * How long the old key goes on at most; 3600 if it is left out.
     */
    overlapSeconds?: number;
};

/**
 * A live API key, without the key itself.
 */
export type Key = {
    id: KeyId;
    name: KeyName;
    /**
     * The profile it acts under; null for the default one.
     */
    profile: string | null;
    /**
     * What narrows its rights; null if nothing does.
     */
    scopes: Array<Scope> | null;
    createdAt: Timestamp;
    /**
     * When it was last used, to the minute; null if never.
     */
    lastUsedAt: Timestamp | null;
    expiresAt: Timestamp;
};

/**
 * The user's live API keys.
 */
export type KeyList = {
    /**
     * The newest first.
     */
    keys: Array<Key>;
};

/**
 * An API key, shown this once.
 */
export type NewKey = {
    id: KeyId;
    name: KeyName;
    /**
     * The profile it acts under; null for the default one.
     */
    profile: string | null;
    /**
     * What narrows its rights; null if nothing does.
     */
    scopes: Array<Scope> | null;
    createdAt: Timestamp;
    expiresAt: Timestamp;
    /**
     * What to send as `X-API-Key`. It cannot be shown again.
     */
    key: string;
};

/**
 * Any JSON object within these limits: 32 levels, 10,000 values, member names of 128 characters. Duplicate members, `__proto__`,
 * `constructor` and `prototype`, U+0000, lone surrogates and numbers that a double cannot hold exactly are refused with 400.
 *
 */
export type Fields = {
    [key: string]: unknown;
};

/**
 * An entity and what the service knows about it.
 */
export type Entity = {
    name: EntityName;
    key: Int64;
    /**
     * 1 at creation, one more with every change.
     */
    version: number;
    createdAt: Timestamp;
    /**
     * The name of the user who created it.
     */
    createdBy: string;
    updatedAt: Timestamp;
    /**
     * The name of the user who changed it last.
     */
    updatedBy: string;
    deletedAt?: Timestamp;
    /**
     * In the trash alone: the name of the user who deleted it.
     */
    deletedBy?: string;
    expiresAt?: Timestamp;
    fields: Fields;
    label?: Label;
};

/**
 * An entity, and with `include` those that it refers to.
 */
export type EntityView = {
    name: EntityName;
    key: Int64;
    /**
     * 1 at creation, one more with every change.
     */
    version: number;
    createdAt: Timestamp;
    /**
     * The name of the user who created it.
     */
    createdBy: string;
    updatedAt: Timestamp;
    /**
     * The name of the user who changed it last.
     */
    updatedBy: string;
    deletedAt?: Timestamp;
    /**
     * In the trash alone: the name of the user who deleted it.
     */
    deletedBy?: string;
    expiresAt?: Timestamp;
    fields: Fields;
    label?: Label;
    included?: Included;
    withheld?: Withheld;
    labels?: Labels;
};

/**
 * The fields of several entities.
 */
export type FieldsList = Array<Fields>;

/**
 * The entities that were created, in the order of the request.
 */
export type CreatedEntities = {
    /**
     * The entities.
     */
    items: Array<{
        key: Int64;
        /**
         * 1 at creation.
         */
        version: number;
    }>;
};

/**
 * Operations to run in their order.
 */
export type Batch = {
    /**
     * Whether all of them are one transaction; true without it.
     */
    atomic?: boolean;
    /**
     * The operations.
     */
    operations: Array<BatchOperation>;
};

/**
 * `create` needs `fields` and takes `id`; `update` needs `key` and `fields`, a merge patch (RFC 7396), and takes `ifMatch`; `delete` needs `key`
 * and takes `ifMatch`; `get` needs `key`. Any other member of an operation is refused with 422. `get` retrieves the entity as the operations before
 * have left it.
 *
 */
export type BatchOperation = {
    /**
     * What to do.
     */
    op: 'create' | 'update' | 'delete' | 'get';
    /**
     * What `$ref` of other operations calls the entity that `create` creates.
     */
    id?: string;
    name: EntityName;
    key?: Int64;
    /**
     * The version that the entity must have to be updated or deleted.
     */
    ifMatch?: string;
    fields?: Fields;
};

/**
 * The outcome of each operation, in the order of the request.
 */
export type BatchResults = {
    /**
     * The outcomes.
     */
    results: Array<{
        /**
         * The status that the operation alone would have.
         */
        status: number;
        entity?: Entity;
        problem?: Problem;
    }>;
};

/**
 * An entity as it was after a change. `updatedAt` and `updatedBy` are those of the change.
 */
export type EntityVersion = {
    /**
     * What changed it.
     */
    operation: 'created' | 'updated' | 'deleted' | 'restored';
    name: EntityName;
    key: Int64;
    /**
     * 1 at creation, one more with every change. A deletion has that of the last version.
     */
    version: number;
    createdAt: Timestamp;
    /**
     * The name of the user who created the entity.
     */
    createdBy: string;
    updatedAt: Timestamp;
    /**
     * The name of the user who made the change.
     */
    updatedBy: string;
    fields: Fields;
    label?: Label;
    /**
     * The members at the top of the fields that differ from the version before. Null at the creation. Null also if the version before is no longer stored, unless it was over 12 hours old when it was replaced.
     */
    changed: Array<string> | null;
};

/**
 * A page of versions.
 */
export type EntityHistory = {
    /**
     * The versions, newest first.
     */
    items: Array<EntityVersion>;
    /**
     * The cursor of the next page; null at the end.
     */
    next: string | null;
    labels?: Labels;
    partial?: Partial;
};

/**
 * A JSON Schema (2020-12) of the fields, an object. Beside the formats of JSON Schema there are `int64` and `decimal`, texts of digits.
 * `x-if-match: required` at its top makes If-Match obligatory for updates and deletes. `x-history` says how long versions are stored, and
 * `x-soft-delete` how long deleted entities stay in the trash. `x-title`, `x-description` and `x-labels` are texts in several languages, `x-form` is a
 * form, `x-zone` a time zone, and `x-label` has the fields of the name of an entity. Unknown keywords and formats are refused.
 *
 */
export type TypeDocument = {
    [key: string]: unknown;
};

/**
 * A type without its document.
 */
export type EntityTypeSummary = {
    name: EntityName;
    /**
     * The number of the change that put the document in force. None is used twice.
     */
    revision: string;
    /**
     * Where the document came from: the files of the operator, the command line, a request.
     */
    source: 'files' | 'command' | 'api';
    appliedAt: Timestamp;
    /**
     * The user, or the name of the operating system or of the service.
     */
    appliedBy: string;
};

/**
 * A type and its document.
 */
export type EntityType = {
    name: EntityName;
    /**
     * The number of the change that put the document in force.
     */
    revision: string;
    /**
     * Where the document came from.
     */
    source: 'files' | 'command' | 'api';
    appliedAt: Timestamp;
    /**
     * The user, or the name of the operating system or of the service.
     */
    appliedBy: string;
    document: TypeDocument;
};

/**
 * Types by name.
 */
export type EntityTypeList = {
    /**
     * The types.
     */
    types: Array<EntityTypeSummary>;
};

/**
 * A declared type as a caller may see it, with texts in the caller's language.
 */
export type EntityDescription = {
    name: EntityName;
    /**
     * The title of an entity; the name without `title` and `x-title`.
     */
    title: string;
    /**
     * Absent if the type has none, or fields that the caller may not know.
     */
    description?: string;
    /**
     * The zone of `x-zone`, else UTC.
     */
    timeZone: string;
    /**
     * The actions that the caller may do with some entity of the name.
     */
    actions: Array<string>;
    /**
     * The fields in the order of the type.
     */
    fields: Array<FieldDescription>;
    /**
     * The groups of `x-form`. Fields that it does not name come last.
     */
    form: Array<FormGroup>;
};

/**
 * A group of a form.
 */
export type FormGroup = {
    /**
     * The heading.
     */
    title?: string;
    /**
     * The rows from top to bottom.
     */
    rows: Array<Array<string>>;
};

/**
 * A field, a member of an object inside of a field, or the items of an array.
 */
export type FieldDescription = {
    /**
     * Absent for items of an array.
     */
    name?: string;
    /**
     * The name without `title` and `x-title`.
     */
    title: string;
    /**
     * The text of the author.
     */
    description?: string;
    /**
     * How values are written and compared. `any` is a field of several types.
     */
    type: 'string' | 'enum' | 'number' | 'integer' | 'int64' | 'decimal' | 'date' | 'date-time' | 'boolean' | 'object' | 'array' | 'any';
    /**
     * The format of a text.
     */
    format?: string;
    /**
     * Whether null is a value.
     */
    isNullable: boolean;
    /**
     * The only values.
     */
    options?: Array<FieldOption>;
    /**
     * The keywords of JSON Schema that limit the value, such as `maxLength`.
     */
    limits?: {
        [key: string]: unknown;
    };
    reference?: FieldReference;
    items?: FieldDescription;
    /**
     * The members of an object.
     */
    fields?: Array<FieldDescription>;
    /**
     * Whether a new entity, or the object, must have it.
     */
    isRequired?: boolean;
    /**
     * Whether the caller sees the field in some row. Only at the top.
     */
    isReadable?: boolean;
    /**
     * Whether the caller sees the field in some rows alone. Only at the top.
     */
    isSometimesHidden?: boolean;
    /**
     * Whether the caller may send the field in new entities. Only at the top.
     */
    isCreatable?: boolean;
    /**
     * Whether the caller may change the field. Only at the top.
     */
    isUpdatable?: boolean;
};

/**
 * A value of a field.
 */
export type FieldOption = {
    /**
     * A text, a number, true or false.
     */
    value: string | number | boolean;
    /**
     * The text of `x-labels`, else the value.
     */
    label: string;
};

/**
 * The reference that the field is.
 */
export type FieldReference = {
    to: EntityName;
};

/**
 * A change of a type; without a document its deletion.
 */
export type TypeChange = {
    document?: TypeDocument;
};

/**
 * What a change of a type would do.
 */
export type TypePlan = {
    name: EntityName;
    /**
     * The revision that the change starts from; 0 for a name without a type.
     */
    revision: string;
    effect: TypeEffect;
    /**
     * The differences; none if the document is in force already.
     */
    steps: Array<{
        /**
         * narrower: may refuse what was accepted; wider: accepts all that was accepted; note: concerns no validation; rule: an entry of `x-unique`,
         * `x-index`, `x-references` or `x-search` that is new, or whose fields have another type; no-rule: one that is gone; shorter: `x-history` keeps
         * versions for less time; sensitive: a field has `x-sensitive`; not-sensitive: it has it no more.
         *
         */
        kind: 'declare' | 'narrower' | 'wider' | 'note' | 'rule' | 'no-rule' | 'shorter' | 'sensitive' | 'not-sensitive' | 'delete';
        /**
         * A JSON pointer into the document.
         */
        pointer: string;
        effect: TypeEffect;
    }>;
    /**
     * The number of entities of the name, counted up to 100,001.
     */
    entities: number;
    /**
     * The number of those that do not fit; 0 where nothing had to be checked. One that shares values of several unique rules counts for each.
     */
    unfit: number;
    /**
     * The first of them by key.
     */
    examples: Array<{
        key: Int64;
        /**
         * Where, and why.
         */
        errors: Array<Fault>;
    }>;
    /**
     * The fields that callers lose or gain by the change, because `*` in a grant has no field with `x-sensitive`.
     */
    fields?: Array<{
        /**
         * A JSON pointer into the document.
         */
        pointer: string;
        /**
         * Whether grants with `*` lose the field or gain it.
         */
        change: 'lost' | 'gained';
        /**
         * The grants with `*` in a list of fields, those on all names included.
         */
        grants: number;
        /**
         * The users of the profiles with such a grant who have the field by no other one.
         */
        people: number;
    }>;
    /**
     * SHA-256 of what the change starts from, its steps and its document.
     */
    digest: string;
};

/**
 * none: concerns later writes only; check: stored entities must fit; build: they must fit a rule, or are indexed; narrow: hides a field from those
 * who see it by `*`; widen: shows a hidden one to them; loss: ends what does not come back. The last three need `confirm`.
 *
 */
export type TypeEffect = 'none' | 'check' | 'build' | 'narrow' | 'widen' | 'loss';

/**
 * Which entities: all members have to hold, so `{}` holds for every entity. A member is a field with a test. At the top, and inside of
 * `$and`, `$or` and `$not`, `$key`, `$version`, `$createdAt`, `$createdBy`, `$updatedAt` and `$updatedBy` are tested like fields. A
 * filter has at most 50 tests and five objects inside each other; texts have at most 1,000 characters.
 *
 * A field that is missing or null, or has a value of another type, fulfils no comparison, and so fulfils `$ne`, `$nin` and `$not`.
 *
 */
export type Filter = {
    /**
     * All of these hold. An empty list holds for every entity.
     */
    $and?: Array<Filter>;
    /**
     * One of these holds. An empty list holds for no entity.
     */
    $or?: Array<Filter>;
    $not?: Filter;
    /**
     * One entity that refers to this one fulfils the filter: `{"member.project": {…}}` for those called `member`, by their field `project`. The
     * declared type of that name has the reference, and an index for it and the fields that the filter compares. An entity that the caller
     * may not read counts as none. A filter has two of `$some` and `$none` at most.
     *
     */
    $some?: {
        [key: string]: Filter;
    };
    /**
     * No entity that refers to this one fulfils the filter.
     */
    $none?: {
        [key: string]: Filter;
    };
    [key: string]: unknown | FieldTest;
};

/**
 * A value; `{"$var": …}`, a variable: `user.name`, `profile.name`, `now` or `today`; `{"$field": …}`, another field of the entity, with dots
 * into objects; or `{"$ago": …}`, the present time minus a duration of ISO 8601 such as `P30D`, where `-P7D` looks ahead.
 *
 */
export type Operand = string | number | boolean | null | {
    $var?: string;
    $field?: string;
    $ago?: string;
    [key: string]: unknown;
};

/**
 * As `Operand`, of a type that has an order.
 */
export type OrderedOperand = string | number | {
    $var?: string;
    $field?: string;
    $ago?: string;
    [key: string]: unknown;
};

/**
 * A value or another `Operand`, which the field must equal; operators, which must all hold; or the tests of members, where the field is an
 * object. A value must be of the declared type and is never converted: int64, decimals and times are texts. A name without a declared type
 * takes any.
 *
 * `$match` tests the entity that a reference of the declared type leads to, and may look through two references in a row. An entity that
 * does not exist or that the caller may not read fulfils no filter.
 *
 */
export type FieldTest = string | number | boolean | null | {
    /**
     * It equals the value; null is JSON null.
     */
    $eq?: Operand;
    /**
     * It does not equal the value.
     */
    $ne?: Operand;
    /**
     * It is less; texts compare by code points.
     */
    $lt?: OrderedOperand;
    /**
     * It is less or equal.
     */
    $lte?: OrderedOperand;
    /**
     * It is greater.
     */
    $gt?: OrderedOperand;
    /**
     * It is greater or equal.
     */
    $gte?: OrderedOperand;
    /**
     * It equals one of the values, or one of the items of a variable that is a list. An empty list finds nothing.
     */
    $in?: Array<Operand> | {
        $var?: string;
    };
    /**
     * It equals none of the values. An empty list finds everything.
     */
    $nin?: Array<Operand> | {
        $var?: string;
    };
    /**
     * A text that begins so, or so as a variable.
     */
    $prefix?: string | {
        $var?: string;
    };
    /**
     * A text with this part, or an array with this item; the part or item may be a variable.
     */
    $contains?: Operand;
    /**
     * All of these tests of the field hold.
     */
    $and?: Array<FieldTest>;
    /**
     * One of these tests of the field holds.
     */
    $or?: Array<FieldTest>;
    $not?: FieldTest;
    /**
     * The field equals the variable.
     */
    $var?: string;
    /**
     * The field equals the other one.
     */
    $field?: string;
    /**
     * The field equals that time.
     */
    $ago?: string;
    /**
     * True if it has a value, null included; false if it is missing.
     */
    $exists?: boolean;
    /**
     * True if it is missing or null; false if it has a value besides null.
     */
    $empty?: boolean;
    $match?: Filter;
    $fold?: FoldTest;
    [key: string]: unknown | FieldTest;
};

/**
 * Tests of a text without regard to case and accents: a text that it equals, or operators, which must all hold. The declared type needs
 * an index for it, `{ field: name, fold: true }` in `x-index`.
 *
 */
export type FoldTest = string | null | {
    /**
     * It equals the text; null is JSON null.
     */
    $eq?: string | null;
    /**
     * It does not equal the text.
     */
    $ne?: string | null;
    /**
     * It equals one of the texts. An empty list finds nothing.
     */
    $in?: Array<string | null>;
    /**
     * It equals none of the texts. An empty list finds everything.
     */
    $nin?: Array<string | null>;
    /**
     * A text that begins so.
     */
    $prefix?: string;
    /**
     * A text with this part.
     */
    $contains?: string;
    [key: string]: unknown;
};

/**
 * What to list.
 */
export type EntityQuery = {
    filter?: Filter;
    /**
     * As the parameter `search`.
     */
    search?: string;
    /**
     * As the parameter `sort`, each field a text.
     */
    sort?: Array<string>;
    /**
     * The most items of the page; 50 without it.
     */
    limit?: number;
    /**
     * The `next` or `prev` of a page.
     */
    cursor?: string;
    /**
     * As the parameter `fields`, each field a text.
     */
    fields?: Array<string>;
    /**
     * As the parameter `include`, each reference a text.
     */
    include?: Array<string>;
    /**
     * As the parameter `labels`.
     */
    labels?: boolean;
    /**
     * As the parameter `count`.
     */
    count?: 'none' | 'capped' | 'estimated' | 'exact';
    /**
     * As the parameter `deleted`.
     */
    deleted?: 'only';
};

/**
 * The entities to export, and the form of the file.
 */
export type EntityExport = {
    /**
     * Of the file. Without it `Accept` decides; NDJSON if both will do.
     */
    format?: 'ndjson' | 'csv';
    filter?: Filter;
    /**
     * As the parameter `search`.
     */
    search?: string;
    /**
     * As the parameter `sort`, each field a text.
     */
    sort?: Array<string>;
    /**
     * As the parameter `fields`, each field a text.
     */
    fields?: Array<string>;
    /**
     * As the parameter `csvSafe`.
     */
    csvSafe?: boolean;
    /**
     * As the parameter `delimiter`.
     */
    delimiter?: 'comma' | 'semicolon' | 'tab';
    /**
     * As the parameter `bom`.
     */
    bom?: boolean;
};

/**
 * What to aggregate.
 */
export type EntityAggregation = {
    filter?: Filter;
    /**
     * As in a list.
     */
    search?: string;
    /**
     * The fields whose values make groups, or periods of them. Without it all entities are one group.
     */
    groupBy?: Array<string | {
        /**
         * The field.
         */
        path: string;
        /**
         * The period: `2026`, `2026-Q4`, `2026-11`, `2026-W47` (ISO 8601), `2026-11-20`, `2026-11-20T13`.
         */
        by: 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour';
        /**
         * The time zone of the periods of a `date-time`; UTC without it.
         */
        zone?: string;
    }>;
    /**
     * What to compute for each group, one to eight measures by names of letters, digits and `_`. `key` is no such name.
     */
    measures: {
        [key: string]: Measure;
    };
    /**
     * Tests of measures, by their names. Sums and averages are texts of decimals.
     */
    having?: Filter;
    /**
     * Measures and fields of `groupBy`, `-` in front for descending. Groups that are equal by it come in the order of their keys.
     */
    sort?: Array<string>;
    /**
     * The most groups of the answer; 1000 without it.
     */
    limit?: number;
};

/**
 * Exactly one of the members.
 */
export type Measure = {
    /**
     * The number of entities.
     */
    $count?: true;
    /**
     * The sum of a field of numbers, decimals or 64-bit integers, as a text.
     */
    $sum?: string;
    /**
     * The average of such a field, as a text.
     */
    $avg?: string;
    /**
     * The least value of a field, as the field is written; an instant in UTC.
     */
    $min?: string;
    /**
     * The greatest value of a field.
     */
    $max?: string;
};

/**
 * The groups of an aggregation.
 */
export type EntityAggregated = {
    /**
     * The groups in their order.
     */
    groups: Array<EntityGroup>;
    /**
     * Whether these are all groups.
     */
    complete: boolean;
    partial?: Partial;
};

/**
 * A group, with each measure as a member of its own.
 */
export type EntityGroup = {
    /**
     * The value of each field of `groupBy`; null for entities without one.
     */
    key: {
        [key: string]: string | number | boolean | null;
    };
    [key: string]: unknown;
};

/**
 * A page of entities.
 */
export type EntityPage = {
    /**
     * The entities, in the order of the sort.
     */
    items: Array<Entity>;
    /**
     * The cursor of the next page; null at the end, and on an empty page that `prev` led to.
     */
    next: string | null;
    /**
     * The cursor of the page before; null at the beginning, and on an empty page.
     */
    prev: string | null;
    /**
     * How many entities the filter finds; left out unless `count` asks for it.
     */
    count?: {
        /**
         * The number.
         */
        value: number;
        /**
         * `capped` if there are at least so many.
         */
        kind: 'exact' | 'capped' | 'estimated';
    };
    included?: Included;
    withheld?: Withheld;
    labels?: Labels;
    partial?: Partial;
};

/**
 * The grants of the caller do not cover all entities of the name, so there may be others. Left out if they cover all.
 */
export type Partial = true;

/**
 * The entities that references lead to, by name and key, each once; left out unless `include` asks for them. A page counts them in its
 * 8 MiB, and is cut before the item that does not fit.
 *
 */
export type Included = {
    [key: string]: {
        [key: string]: Entity;
    };
};

/**
 * The name of the entity by the `x-label` of its type. Left out unless `labels` asks for it, where the caller may not see it, and for an entity without the
 * fields that it is made of.
 *
 */
export type Label = string;

/**
 * The names of the entities that references lead to, by name and key; left out unless `labels` asks for them. A key without a name may lead to no entity, to
 * one whose name the caller may not see, or to one without a name.
 *
 */
export type Labels = {
    [key: string]: {
        [key: string]: string;
    };
};

/**
 * Where the references lead to an entity that does not exist or that the caller may not read; left out unless `include` asks for
 * entities. A reference whose field the answer does not show is not listed.
 *
 */
export type Withheld = Array<{
    name: EntityName;
    key: Int64;
}>;

/**
 * What went wrong, for programs. The list grows; treat an unknown code by its status.
 */
export type ProblemCode = string;

/**
 * A refusal or failure (RFC 9457).
 */
export type Problem = {
    /**
     * A page that explains the code.
     */
    type: string;
    /**
     * The code in words.
     */
    title: string;
    /**
     * The HTTP status.
     */
    status: number;
    /**
     * What to do about it.
     */
    detail: string;
    /**
     * The request, to quote to the operator.
     */
    instance: string;
    code: ProblemCode;
    /**
     * What exactly is wrong with the input, and where. A request with more faults gets the first 20.
     */
    errors?: Array<Fault>;
};

/**
 * One thing wrong with the input. Has a pointer into the body, or a parameter; where a parameter holds JSON, it has both, and the pointer
 * leads into that JSON. A name is repeated only if it has 1 to 64 letters, digits, `_`, `.` and `-`.
 *
 */
export type Fault = {
    /**
     * RFC 6901 pointer into the body; form fields are members of the root.
     */
    pointer?: string;
    /**
     * The name of a path, query or header parameter; empty where `position` stands for it.
     */
    parameter?: string;
    /**
     * Where a name is not repeated: the number of the member, field or parameter within its object, form or query, from 1. The pointer is
     * that of the object. They are counted in the order of the text. Only if a body that could be read breaks its schema, names that are
     * whole numbers come first, as in `Object.keys` of JavaScript.
     *
     */
    position?: number;
    /**
     * What is wrong, for programs.
     */
    code: string;
    /**
     * What is wrong, for people.
     */
    detail: string;
    /**
     * What is accepted instead, for people, such as `date, as 2026-11-22`.
     */
    expected?: string;
};

/**
 * The issuer's id.
 */
export type IssuerId = string;

/**
 * The entity's name.
 */
export type EntityName2 = EntityName;

/**
 * The entity's key, in canonical decimal digits.
 */
export type EntityKey = Int64;

/**
 * The version to retrieve instead of the present one.
 */
export type Version = string;

/**
 * The time at which the entity is wanted (RFC 3339), or a position that a `Content-Location` has named. No parameter goes along with it. Before the
 * oldest state that is kept the answer is 410 `position-gone`.
 *
 */
export type AsOf = string;

/**
 * `only`: what is in the trash, instead of what is not deleted. Such entities have `deletedAt`, `deletedBy` and `expiresAt`.
 */
export type Deleted = 'only';

/**
 * The API key's public handle, the twelve characters after `esk_`.
 */
export type KeyId2 = KeyId;

/**
 * 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
 * backslash precedes `"` and a backslash. The quotes are not part of the key.
 *
 * A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
 * name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
 * them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
 * `idempotency-in-progress`. A refusal is not stored.
 *
 */
export type IdempotencyKey = string;

/**
 * Which entities: the JSON text of a `Filter`. A field without a declared type is compared with values of the same JSON type. `$in` has
 * 200 values at most.
 *
 */
export type Filter2 = string;

/**
 * Up to four fields, separated by commas; `-` in front sorts descending, a dot leads into an object. `$key`, `$version`, `$createdAt`,
 * `$createdBy`, `$updatedAt` and `$updatedBy` are not fields and sort, too. By default the list is sorted by `$key`, and entities that
 * are equal by the sort are in the order of their keys. Entities without a value come last, descending first.
 *
 */
export type Sort = string;

/**
 * The most items of a page, 1 to 1000; 50 without it.
 */
export type Limit = string;

/**
 * The `next` or `prev` of a page, to get the page after or before it. The other parameters but `limit`, `fields`, `include` and `count` must be the same.
 */
export type Cursor = string;

/**
 * Of the file. Without it the header decides, `Accept` or `Content-Type`; NDJSON if both will do.
 */
export type TransferFormat = 'ndjson' | 'csv';

/**
 * The fields to send, up to 50, separated by commas; a dot leads into an object. Without it all are sent.
 */
export type FieldNames = string;

/**
 * Words that the entities must have in the texts that the `x-search` of the declared type names, as a web search reads them: all words,
 * `"a phrase"`, `or`, and `-` in front of a word for none. A word finds the words that begin with it, without regard to case and accents. Without `sort` the best matches come first if there are at most 10,000, else
 * the list is by key. A name without `x-search` is 422.
 *
 */
export type Search = string;

/**
 * The references to follow, up to five, separated by commas: fields in the `x-references` of the declared type. A dot leads into an
 * object, or from a reference to one of the entities that it leads to. The entities come in `included`, each once, those of the way
 * as well. One that does not exist or that the caller may not read is in `withheld`.
 *
 */
export type Include = string;

/**
 * Whether names of entities come beside them, of types with `x-label`: `label` of each entity, and `labels` of those that references lead to. The caller sees
 * the names that its actions `label` and `read` cover. A page has at most 5,000 names, and ends before the item that has more.
 *
 */
export type Labels2 = Flag;

/**
 * Whether to count what the filter finds. `capped` counts up to 10,000. `estimated` also counts up to 10,000 and estimates beyond,
 * for a caller who may read the entities of all users. `exact` counts all. Each is 503 `busy` after two seconds, and sending it again may help: the bound is on what is found, not on what is looked at.
 *
 */
export type Count = 'none' | 'capped' | 'estimated' | 'exact';

/**
 * The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
 * lack changes of the last two seconds, or of the time that the operator allows.
 *
 */
export type ConsistencyToken = string;

/**
 * Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same.
 */
export type IfMatch = string;

/**
 * Answer 304 if the entity's ETag is one of these.
 */
export type IfNoneMatch = string;

/**
 * Act only if the type's ETag is one of these; `*` if there is a type. A tag that a proxy has made weak, `W/"7"`, counts as the same.
 */
export type TypeIfMatch = string;

/**
 * `*`: act only if the name has no type.
 */
export type TypeIfNoneMatch = string;

export type GetSessionData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Add the roles of the active profile.
         */
        roles?: Flag;
        /**
         * Add the user's profiles.
         */
        profiles?: Flag;
    };
    url: '/auth';
};

export type GetSessionErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The bearer token is good, and no user is linked to its issuer and subject. Or the request has the session cookie and came from a foreign
     * site.
     *
     */
    403: Problem & {
        code?: 'identity-not-linked' | 'csrf-rejected';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type GetSessionError = GetSessionErrors[keyof GetSessionErrors];

export type GetSessionResponses = {
    /**
     * Who is calling, and the server.
     */
    200: SessionInfo;
};

export type GetSessionResponse = GetSessionResponses[keyof GetSessionResponses];

export type EndSessionData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * End the session.
         */
        logout?: Flag;
    };
    url: '/auth';
};

export type EndSessionErrors = {
    /**
     * A parameter is unknown, repeated or invalid.
     */
    400: unknown;
    /**
     * No credential, or one that is not valid.
     */
    401: unknown;
    /**
     * The request came from a foreign site or was speculative, and the session goes on. Or the bearer token belongs to no user of this service.
     *
     */
    403: unknown;
    /**
     * Too many requests.
     */
    429: unknown;
    /**
     * Something the service depends on is out of reach.
     */
    503: unknown;
};

export type EndSessionResponses = {
    /**
     * There is a live session or another valid credential; nothing has changed.
     */
    200: unknown;
    /**
     * The session is over; no token of it works any more.
     */
    204: void;
};

export type EndSessionResponse = EndSessionResponses[keyof EndSessionResponses];

export type CreateSessionData = {
    /**
     * How the user signs in.
     */
    body: SessionRequest;
    path?: never;
    query?: never;
    url: '/auth';
};

export type CreateSessionErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * The name and password do not belong together, or the token is not valid. Or the session ended before the answer was sent
     * (`unauthenticated`).
     *
     */
    401: Problem & {
        code?: 'invalid-credentials' | 'invalid-token' | 'unauthenticated';
    };
    /**
     * The request came from a foreign site, or the token belongs to no user of this service.
     */
    403: Problem & {
        code?: 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Well-formed, but not what is asked for.
     */
    422: Problem & {
        code?: 'validation-failed';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type CreateSessionError = CreateSessionErrors[keyof CreateSessionErrors];

export type CreateSessionResponses = {
    /**
     * The session is open.
     */
    200: SessionInfo;
};

export type CreateSessionResponse = CreateSessionResponses[keyof CreateSessionResponses];

export type RefreshSessionData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/auth/refresh';
};

export type RefreshSessionErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The operation needs a session, and the caller has none, or one of a kind that may not do this. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another refresh of this session was faster. Its cookie counts; repeat the request with that.
     */
    409: Problem & {
        code?: 'refresh-conflict';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type RefreshSessionError = RefreshSessionErrors[keyof RefreshSessionErrors];

export type RefreshSessionResponses = {
    /**
     * The session goes on under a new cookie.
     */
    200: SessionInfo;
};

export type RefreshSessionResponse = RefreshSessionResponses[keyof RefreshSessionResponses];

export type RevokeOtherSessionsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/auth/sessions';
};

export type RevokeOtherSessionsErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The operation needs a session, and the caller has none, or one of a kind that may not do this. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type RevokeOtherSessionsError = RevokeOtherSessionsErrors[keyof RevokeOtherSessionsErrors];

export type RevokeOtherSessionsResponses = {
    /**
     * The others are over.
     */
    200: SessionsEnded;
};

export type RevokeOtherSessionsResponse = RevokeOtherSessionsResponses[keyof RevokeOtherSessionsResponses];

export type ListSessionsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/auth/sessions';
};

export type ListSessionsErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The operation needs a session and the caller came by other means, or the bearer token belongs to no user of this service. Or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ListSessionsError = ListSessionsErrors[keyof ListSessionsErrors];

export type ListSessionsResponses = {
    /**
     * The live sessions, the one that asks among them.
     */
    200: SessionList;
};

export type ListSessionsResponse = ListSessionsResponses[keyof ListSessionsResponses];

export type RevokeSessionData = {
    body?: never;
    path: {
        /**
         * The session's public handle.
         */
        id: string;
    };
    query?: never;
    url: '/auth/sessions/{id}';
};

export type RevokeSessionErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The operation needs a session, and the caller has none, or one of a kind that may not do this. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type RevokeSessionError = RevokeSessionErrors[keyof RevokeSessionErrors];

export type RevokeSessionResponses = {
    /**
     * The session is over.
     */
    204: void;
};

export type RevokeSessionResponse = RevokeSessionResponses[keyof RevokeSessionResponses];

export type ListProfilesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/auth/profiles';
};

export type ListProfilesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The bearer token is good, and no user is linked to its issuer and subject. Or the request has the session cookie and came from a foreign
     * site.
     *
     */
    403: Problem & {
        code?: 'identity-not-linked' | 'csrf-rejected';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ListProfilesError = ListProfilesErrors[keyof ListProfilesErrors];

export type ListProfilesResponses = {
    /**
     * The profiles, by name.
     */
    200: ProfileList;
};

export type ListProfilesResponse = ListProfilesResponses[keyof ListProfilesResponses];

export type SelectDefaultProfileData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/auth/profile';
};

export type SelectDefaultProfileErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The operation needs a session, and the caller has none, or one of a kind that may not do this. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another refresh of this session was faster. Its cookie counts; repeat the request with that.
     */
    409: Problem & {
        code?: 'refresh-conflict';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type SelectDefaultProfileError = SelectDefaultProfileErrors[keyof SelectDefaultProfileErrors];

export type SelectDefaultProfileResponses = {
    /**
     * The session acts under the profile.
     */
    200: SessionInfo;
};

export type SelectDefaultProfileResponse = SelectDefaultProfileResponses[keyof SelectDefaultProfileResponses];

export type SelectProfileData = {
    body?: never;
    path: {
        /**
         * The profile's name.
         */
        name: string;
    };
    query?: never;
    url: '/auth/profile/{name}';
};

export type SelectProfileErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The operation needs a session, and the caller has none, or one of a kind that may not do this. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another refresh of this session was faster. Its cookie counts; repeat the request with that.
     */
    409: Problem & {
        code?: 'refresh-conflict';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type SelectProfileError = SelectProfileErrors[keyof SelectProfileErrors];

export type SelectProfileResponses = {
    /**
     * The session acts under the profile.
     */
    200: SessionInfo;
};

export type SelectProfileResponse = SelectProfileResponses[keyof SelectProfileResponses];

export type CheckOwnPermissionData = {
    /**
     * The request that the caller thinks of.
     */
    body: PermissionQuestion;
    path?: never;
    query?: never;
    url: '/auth/permissions/check';
};

export type CheckOwnPermissionErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The bearer token is good, and no user is linked to its issuer and subject. Or the request has the session cookie and came from a foreign
     * site.
     *
     */
    403: Problem & {
        code?: 'identity-not-linked' | 'csrf-rejected';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Well-formed, but not what is asked for.
     */
    422: Problem & {
        code?: 'validation-failed';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type CheckOwnPermissionError = CheckOwnPermissionErrors[keyof CheckOwnPermissionErrors];

export type CheckOwnPermissionResponses = {
    /**
     * The explanation.
     */
    200: PermissionAnswer;
};

export type CheckOwnPermissionResponse = CheckOwnPermissionResponses[keyof CheckOwnPermissionResponses];

export type ChangePasswordData = {
    /**
     * The present and the new password.
     */
    body: PasswordChange;
    path?: never;
    query?: never;
    url: '/auth/password';
};

export type ChangePasswordErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The present password is wrong, the caller has no session or no password, or the session was opened with an access token. Or the bearer
     * token belongs to no user of this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'credential-mismatch' | 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * Another refresh of this session was faster. Its cookie counts; repeat the request with that.
     */
    409: Problem & {
        code?: 'refresh-conflict';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The new password does not meet the policy, or its repeat differs.
     */
    422: Problem & {
        code?: 'password-rejected';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ChangePasswordError = ChangePasswordErrors[keyof ChangePasswordErrors];

export type ChangePasswordResponses = {
    /**
     * The password is changed.
     */
    204: void;
};

export type ChangePasswordResponse = ChangePasswordResponses[keyof ChangePasswordResponses];

export type ListKeysData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/auth/keys';
};

export type ListKeysErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The operation needs a session and the caller came by other means, or the bearer token belongs to no user of this service. Or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ListKeysError = ListKeysErrors[keyof ListKeysErrors];

export type ListKeysResponses = {
    /**
     * The live keys.
     */
    200: KeyList;
};

export type ListKeysResponse = ListKeysResponses[keyof ListKeysResponses];

export type CreateKeyData = {
    /**
     * The name of the key, and what limits it.
     */
    body: KeyRequest;
    path?: never;
    query?: never;
    url: '/auth/keys';
};

export type CreateKeyErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The session was signed in too long ago or opened with an access token, or the caller has none. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'fresh-login-required' | 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The user has as many live keys as may be, or the key has been replaced already.
     */
    409: Problem & {
        code?: 'conflict';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Well-formed, but not what is asked for.
     */
    422: Problem & {
        code?: 'validation-failed';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type CreateKeyError = CreateKeyErrors[keyof CreateKeyErrors];

export type CreateKeyResponses = {
    /**
     * The key, shown this once.
     */
    201: NewKey;
};

export type CreateKeyResponse = CreateKeyResponses[keyof CreateKeyResponses];

export type RevokeKeyData = {
    body?: never;
    path: {
        /**
         * The API key's public handle, the twelve characters after `esk_`.
         */
        id: KeyId;
    };
    query?: never;
    url: '/auth/keys/{id}';
};

export type RevokeKeyErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The session was signed in too long ago or opened with an access token, or the caller has none. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'fresh-login-required' | 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type RevokeKeyError = RevokeKeyErrors[keyof RevokeKeyErrors];

export type RevokeKeyResponses = {
    /**
     * The key is dead.
     */
    204: void;
};

export type RevokeKeyResponse = RevokeKeyResponses[keyof RevokeKeyResponses];

export type RotateKeyData = {
    /**
     * May be left out.
     */
    body?: KeyRotation;
    path: {
        /**
         * The API key's public handle, the twelve characters after `esk_`.
         */
        id: KeyId;
    };
    query?: never;
    url: '/auth/keys/{id}/rotate';
};

export type RotateKeyErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The session was signed in too long ago or opened with an access token, or the caller has none. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'fresh-login-required' | 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The user has as many live keys as may be, or the key has been replaced already.
     */
    409: Problem & {
        code?: 'conflict';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Well-formed, but not what is asked for.
     */
    422: Problem & {
        code?: 'validation-failed';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type RotateKeyError = RotateKeyErrors[keyof RotateKeyErrors];

export type RotateKeyResponses = {
    /**
     * The key, shown this once.
     */
    201: NewKey;
};

export type RotateKeyResponse = RotateKeyResponses[keyof RotateKeyResponses];

export type ListIssuersData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/auth/issuers';
};

export type ListIssuersErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
};

export type ListIssuersError = ListIssuersErrors[keyof ListIssuersErrors];

export type ListIssuersResponses = {
    /**
     * The providers, in the order of the operator's file.
     */
    200: IssuerList;
};

export type ListIssuersResponse = ListIssuersResponses[keyof ListIssuersResponses];

export type StartOpenIdSignInData = {
    body?: never;
    path: {
        /**
         * The issuer's id.
         */
        issuer: string;
    };
    query?: {
        /**
         * Where to go in the end: a path on this service's origin, with a query if need be, in printable ASCII. Anything else counts as `/`.
         *
         */
        return_to?: string;
        /**
         * Have the provider ask its user to sign in anew, for operations that need a recent sign-in.
         */
        fresh?: Flag;
        /**
         * Have the provider let its user choose the account, as after a logout.
         */
        choose?: Flag;
        /**
         * The issuer, sent by another party that begins the sign-in; it must be the one of the path.
         */
        iss?: string;
        /**
         * Text about the user, such as a login name, which is passed on to the provider.
         */
        login_hint?: string;
        /**
         * Where to go in the end, sent by another party in place of `return_to`: a URL on this service's origin. Anything else counts as `/`.
         *
         */
        target_link_uri?: string;
        /**
         * The service has sent the browser here from another name of its host, and does not do so again.
         */
        redirected?: Flag;
    };
    url: '/auth/oidc/{issuer}/start';
};

export type StartOpenIdSignInErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type StartOpenIdSignInError = StartOpenIdSignInErrors[keyof StartOpenIdSignInErrors];

export type InitiateOpenIdSignInData = {
    /**
     * The issuer and the user of the sign-in that another party begins.
     */
    body: InitiatedSignIn;
    path: {
        /**
         * The issuer's id.
         */
        issuer: string;
    };
    query?: never;
    url: '/auth/oidc/{issuer}/start';
};

export type InitiateOpenIdSignInErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
};

export type InitiateOpenIdSignInError = InitiateOpenIdSignInErrors[keyof InitiateOpenIdSignInErrors];

export type FinishOpenIdSignInData = {
    body?: never;
    path: {
        /**
         * The issuer's id.
         */
        issuer: string;
    };
    query: {
        /**
         * What the start gave to the provider.
         */
        state: string;
    };
    url: '/auth/oidc/{issuer}/callback';
};

export type FinishOpenIdSignInErrors = {
    /**
     * The answer opens no session: it is not one to a start of this browser, the provider refused, or what it says is not
     * what it may say. Or a parameter is malformed.
     *
     */
    400: Problem & {
        code?: 'malformed-request' | 'ambiguous-credentials' | 'sign-in-failed';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The user has signed in at the provider, but is no active user here. Or an identity was to be linked, and the session may link none.
     *
     */
    403: Problem & {
        code?: 'identity-not-linked' | 'forbidden';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * The identity is another user's, and stays so.
     */
    409: Problem & {
        code?: 'conflict';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type FinishOpenIdSignInError = FinishOpenIdSignInErrors[keyof FinishOpenIdSignInErrors];

export type LinkIdentityData = {
    body?: never;
    path: {
        /**
         * The issuer's id.
         */
        issuer: string;
    };
    query?: {
        /**
         * Where to go in the end, as for `startOpenIdSignIn`.
         */
        return_to?: string;
    };
    url: '/auth/oidc/{issuer}/link';
};

export type LinkIdentityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The session was signed in too long ago or opened with an access token, or the caller has none. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'fresh-login-required' | 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type LinkIdentityError = LinkIdentityErrors[keyof LinkIdentityErrors];

export type LinkIdentityResponses = {
    /**
     * Where to send the browser.
     */
    200: ProviderAddress;
};

export type LinkIdentityResponse = LinkIdentityResponses[keyof LinkIdentityResponses];

export type ListIdentitiesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/auth/identities';
};

export type ListIdentitiesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The operation needs a session and the caller came by other means, or the bearer token belongs to no user of this service. Or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ListIdentitiesError = ListIdentitiesErrors[keyof ListIdentitiesErrors];

export type ListIdentitiesResponses = {
    /**
     * The links.
     */
    200: IdentityList;
};

export type ListIdentitiesResponse = ListIdentitiesResponses[keyof ListIdentitiesResponses];

export type UnlinkIdentityData = {
    body?: never;
    path: {
        /**
         * The link's public handle.
         */
        id: string;
    };
    query?: never;
    url: '/auth/identities/{id}';
};

export type UnlinkIdentityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * The session was signed in too long ago or opened with an access token, or the caller has none. Or the bearer token belongs to no user of
     * this service, or the request came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'fresh-login-required' | 'csrf-rejected' | 'forbidden' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * The user has no password and no other link to a trusted issuer, so could not sign in any more.
     */
    409: Problem & {
        code?: 'last-sign-in-method';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type UnlinkIdentityError = UnlinkIdentityErrors[keyof UnlinkIdentityErrors];

export type UnlinkIdentityResponses = {
    /**
     * The identity is linked no more.
     */
    204: void;
};

export type UnlinkIdentityResponse = UnlinkIdentityResponses[keyof UnlinkIdentityResponses];

export type LogoutFromProviderData = {
    /**
     * The logout token.
     */
    body: ProviderLogout;
    path: {
        /**
         * The issuer's id.
         */
        issuer: string;
    };
    query?: never;
    url: '/auth/oidc/{issuer}/backchannel-logout';
};

export type LogoutFromProviderErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type LogoutFromProviderError = LogoutFromProviderErrors[keyof LogoutFromProviderErrors];

export type LogoutFromProviderResponses = {
    /**
     * What the token names is over.
     */
    200: unknown;
};

export type ListEntitiesData = {
    body?: never;
    headers?: {
        /**
         * Answer 304 if the page's ETag is one of these.
         */
        'If-None-Match'?: string;
        /**
         * The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
         * lack changes of the last two seconds, or of the time that the operator allows.
         *
         */
        'Consistency-Token'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: {
        /**
         * Which entities: the JSON text of a `Filter`. A field without a declared type is compared with values of the same JSON type. `$in` has
         * 200 values at most.
         *
         */
        filter?: string;
        /**
         * Words that the entities must have in the texts that the `x-search` of the declared type names, as a web search reads them: all words,
         * `"a phrase"`, `or`, and `-` in front of a word for none. A word finds the words that begin with it, without regard to case and accents. Without `sort` the best matches come first if there are at most 10,000, else
         * the list is by key. A name without `x-search` is 422.
         *
         */
        search?: string;
        /**
         * Up to four fields, separated by commas; `-` in front sorts descending, a dot leads into an object. `$key`, `$version`, `$createdAt`,
         * `$createdBy`, `$updatedAt` and `$updatedBy` are not fields and sort, too. By default the list is sorted by `$key`, and entities that
         * are equal by the sort are in the order of their keys. Entities without a value come last, descending first.
         *
         */
        sort?: string;
        /**
         * The most items of a page, 1 to 1000; 50 without it.
         */
        limit?: string;
        /**
         * The `next` or `prev` of a page, to get the page after or before it. The other parameters but `limit`, `fields`, `include` and `count` must be the same.
         */
        cursor?: string;
        /**
         * The fields to send, up to 50, separated by commas; a dot leads into an object. Without it all are sent.
         */
        fields?: string;
        /**
         * The references to follow, up to five, separated by commas: fields in the `x-references` of the declared type. A dot leads into an
         * object, or from a reference to one of the entities that it leads to. The entities come in `included`, each once, those of the way
         * as well. One that does not exist or that the caller may not read is in `withheld`.
         *
         */
        include?: string;
        /**
         * Whether names of entities come beside them, of types with `x-label`: `label` of each entity, and `labels` of those that references lead to. The caller sees
         * the names that its actions `label` and `read` cover. A page has at most 5,000 names, and ends before the item that has more.
         *
         */
        labels?: Flag;
        /**
         * Whether to count what the filter finds. `capped` counts up to 10,000. `estimated` also counts up to 10,000 and estimates beyond,
         * for a caller who may read the entities of all users. `exact` counts all. Each is 503 `busy` after two seconds, and sending it again may help: the bound is on what is found, not on what is looked at.
         *
         */
        count?: 'none' | 'capped' | 'estimated' | 'exact';
        /**
         * `only`: what is in the trash, instead of what is not deleted. Such entities have `deletedAt`, `deletedBy` and `expiresAt`.
         */
        deleted?: 'only';
    };
    url: '/rest/entity/{name}';
};

export type ListEntitiesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The filter, the sort, a field or an include is not accepted, or the query would cost too much.
     */
    422: Problem & {
        code?: 'validation-failed' | 'query-too-expensive';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ListEntitiesError = ListEntitiesErrors[keyof ListEntitiesErrors];

export type ListEntitiesResponses = {
    /**
     * A page of entities.
     */
    200: EntityPage;
};

export type ListEntitiesResponse = ListEntitiesResponses[keyof ListEntitiesResponses];

export type CreateEntityData = {
    /**
     * The fields, a JSON object.
     */
    body: Fields;
    headers?: {
        /**
         * 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
         * backslash precedes `"` and a backslash. The quotes are not part of the key.
         *
         * A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
         * name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
         * them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
         * `idempotency-in-progress`. A refusal is not stored.
         *
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: never;
    url: '/rest/entity/{name}';
};

export type CreateEntityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another entity has the value of a unique field; the fault's `detail` names its key to a caller who may read it. Or a request with the same
     * Idempotency-Key is still under way: send it again a little later.
     *
     */
    409: Problem & {
        code?: 'unique-conflict' | 'idempotency-in-progress';
    };
    /**
     * A request with the same Idempotency-Key has taken effect before. Its answer cannot be given again: the history no longer has that version of the
     * entity, or the caller may not reach it any more. Nothing was written again.
     *
     */
    410: Problem & {
        code?: 'answer-gone';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The fields do not fit the declared type, or the Idempotency-Key came with another request before.
     */
    422: Problem & {
        code?: 'validation-failed' | 'idempotency-key-reused';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type CreateEntityError = CreateEntityErrors[keyof CreateEntityErrors];

export type CreateEntityResponses = {
    /**
     * The entity is stored.
     */
    201: Entity;
};

export type CreateEntityResponse = CreateEntityResponses[keyof CreateEntityResponses];

export type QueryEntitiesData = {
    /**
     * What to list; all members are optional.
     */
    body: EntityQuery;
    headers?: {
        /**
         * The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
         * lack changes of the last two seconds, or of the time that the operator allows.
         *
         */
        'Consistency-Token'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: never;
    url: '/rest/entity/{name}/query';
};

export type QueryEntitiesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The filter, the sort, a field or an include is not accepted, or the query would cost too much.
     */
    422: Problem & {
        code?: 'validation-failed' | 'query-too-expensive';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type QueryEntitiesError = QueryEntitiesErrors[keyof QueryEntitiesErrors];

export type QueryEntitiesResponses = {
    /**
     * A page of entities.
     */
    200: EntityPage;
};

export type QueryEntitiesResponse = QueryEntitiesResponses[keyof QueryEntitiesResponses];

export type AggregateEntitiesData = {
    /**
     * What to aggregate.
     */
    body: EntityAggregation;
    headers?: {
        /**
         * The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
         * lack changes of the last two seconds, or of the time that the operator allows.
         *
         */
        'Consistency-Token'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: never;
    url: '/rest/entity/{name}/aggregate';
};

export type AggregateEntitiesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The filter, the sort, a field or an include is not accepted, or the query would cost too much.
     */
    422: Problem & {
        code?: 'validation-failed' | 'query-too-expensive';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type AggregateEntitiesError = AggregateEntitiesErrors[keyof AggregateEntitiesErrors];

export type AggregateEntitiesResponses = {
    /**
     * The groups.
     */
    200: EntityAggregated;
};

export type AggregateEntitiesResponse = AggregateEntitiesResponses[keyof AggregateEntitiesResponses];

export type CreateEntitiesData = {
    /**
     * The fields of each entity.
     */
    body: FieldsList;
    headers?: {
        /**
         * 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
         * backslash precedes `"` and a backslash. The quotes are not part of the key.
         *
         * A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
         * name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
         * them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
         * `idempotency-in-progress`. A refusal is not stored.
         *
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: never;
    url: '/rest/entity/{name}/bulk';
};

export type CreateEntitiesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another entity has the value of a unique field; the fault's `detail` names its key to a caller who may read it. Or a request with the same
     * Idempotency-Key is still under way: send it again a little later.
     *
     */
    409: Problem & {
        code?: 'unique-conflict' | 'idempotency-in-progress';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The fields do not fit the declared type, or the Idempotency-Key came with another request before.
     */
    422: Problem & {
        code?: 'validation-failed' | 'idempotency-key-reused';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type CreateEntitiesError = CreateEntitiesErrors[keyof CreateEntitiesErrors];

export type CreateEntitiesResponses = {
    /**
     * All are created.
     */
    200: CreatedEntities;
};

export type CreateEntitiesResponse = CreateEntitiesResponses[keyof CreateEntitiesResponses];

export type UpsertEntityData = {
    /**
     * The fields, a JSON object.
     */
    body: Fields;
    headers?: {
        /**
         * 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
         * backslash precedes `"` and a backslash. The quotes are not part of the key.
         *
         * A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
         * name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
         * them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
         * `idempotency-in-progress`. A refusal is not stored.
         *
         */
        'Idempotency-Key'?: string;
        /**
         * Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same.
         */
        'If-Match'?: string;
        /**
         * `*`: act only if no entity has these values.
         */
        'If-None-Match'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query: {
        /**
         * The fields of a unique rule, with commas between and dots into objects.
         */
        by: string;
    };
    url: '/rest/entity/{name}/upsert';
};

export type UpsertEntityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another entity has the value of a unique field; the fault's `detail` names its key to a caller who may read it. Or a request with the same
     * Idempotency-Key is still under way: send it again a little later.
     *
     */
    409: Problem & {
        code?: 'unique-conflict' | 'idempotency-in-progress';
    };
    /**
     * A request with the same Idempotency-Key has taken effect before. Its answer cannot be given again: the history no longer has that version of the
     * entity, or the caller may not reach it any more. Nothing was written again.
     *
     */
    410: Problem & {
        code?: 'answer-gone';
    };
    /**
     * The version is no longer the one named in If-Match.
     */
    412: Problem & {
        code?: 'precondition-failed';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The fields do not fit the declared type, or the Idempotency-Key came with another request before.
     */
    422: Problem & {
        code?: 'validation-failed' | 'idempotency-key-reused';
    };
    /**
     * The entity's type requires If-Match, and the request has none.
     */
    428: Problem & {
        code?: 'precondition-required';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type UpsertEntityError = UpsertEntityErrors[keyof UpsertEntityErrors];

export type UpsertEntityResponses = {
    /**
     * The entity.
     */
    200: Entity;
    /**
     * The entity is stored.
     */
    201: Entity;
};

export type UpsertEntityResponse = UpsertEntityResponses[keyof UpsertEntityResponses];

export type DeleteEntityData = {
    body?: never;
    headers?: {
        /**
         * Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same.
         */
        'If-Match'?: string;
        /**
         * 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
         * backslash precedes `"` and a backslash. The quotes are not part of the key.
         *
         * A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
         * name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
         * them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
         * `idempotency-in-progress`. A refusal is not stored.
         *
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
        /**
         * The entity's key, in canonical decimal digits.
         */
        key: Int64;
    };
    query?: {
        /**
         * Remove what is stored of the entity for good.
         */
        purge?: Flag;
    };
    url: '/rest/entity/{name}/{key}';
};

export type DeleteEntityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Other entities refer to the entity. The answer has the names and numbers of those that the caller may read. Or a request with the same
     * Idempotency-Key is still under way; send it again a little later.
     *
     */
    409: Problem & {
        code?: 'still-referenced' | 'idempotency-in-progress';
    };
    /**
     * The version is no longer the one named in If-Match.
     */
    412: Problem & {
        code?: 'precondition-failed';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The Idempotency-Key came with another request before.
     */
    422: Problem & {
        code?: 'idempotency-key-reused';
    };
    /**
     * The entity's type requires If-Match, and the request has none.
     */
    428: Problem & {
        code?: 'precondition-required';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type DeleteEntityError = DeleteEntityErrors[keyof DeleteEntityErrors];

export type DeleteEntityResponses = {
    /**
     * The entity is gone.
     */
    204: void;
};

export type DeleteEntityResponse = DeleteEntityResponses[keyof DeleteEntityResponses];

export type GetEntityData = {
    body?: never;
    headers?: {
        /**
         * Answer 304 if the entity's ETag is one of these.
         */
        'If-None-Match'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
        /**
         * The entity's key, in canonical decimal digits.
         */
        key: Int64;
    };
    query?: {
        /**
         * The fields to send, up to 50, separated by commas; a dot leads into an object. Without it all are sent.
         */
        fields?: string;
        /**
         * The references to follow, up to five, separated by commas: fields in the `x-references` of the declared type. A dot leads into an
         * object, or from a reference to one of the entities that it leads to. The entities come in `included`, each once, those of the way
         * as well. One that does not exist or that the caller may not read is in `withheld`.
         *
         */
        include?: string;
        /**
         * Whether names of entities come beside them, of types with `x-label`: `label` of each entity, and `labels` of those that references lead to. The caller sees
         * the names that its actions `label` and `read` cover. A page has at most 5,000 names, and ends before the item that has more.
         *
         */
        labels?: Flag;
        /**
         * The version to retrieve instead of the present one.
         */
        version?: string;
        /**
         * The time at which the entity is wanted (RFC 3339), or a position that a `Content-Location` has named. No parameter goes along with it. Before the
         * oldest state that is kept the answer is 410 `position-gone`.
         *
         */
        asOf?: string;
        /**
         * `only`: what is in the trash, instead of what is not deleted. Such entities have `deletedAt`, `deletedBy` and `expiresAt`.
         */
        deleted?: 'only';
    };
    url: '/rest/entity/{name}/{key}';
};

export type GetEntityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The state at that time is no longer stored, or never existed.
     */
    410: Problem & {
        code?: 'position-gone';
    };
    /**
     * Well-formed, but not what is asked for.
     */
    422: Problem & {
        code?: 'validation-failed';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type GetEntityError = GetEntityErrors[keyof GetEntityErrors];

export type GetEntityResponses = {
    /**
     * The entity.
     */
    200: EntityView;
};

export type GetEntityResponse = GetEntityResponses[keyof GetEntityResponses];

export type UpdateEntityData = {
    /**
     * The fields, a JSON object.
     */
    body: Fields;
    headers?: {
        /**
         * Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same.
         */
        'If-Match'?: string;
        /**
         * 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
         * backslash precedes `"` and a backslash. The quotes are not part of the key.
         *
         * A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
         * name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
         * them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
         * `idempotency-in-progress`. A refusal is not stored.
         *
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
        /**
         * The entity's key, in canonical decimal digits.
         */
        key: Int64;
    };
    query?: never;
    url: '/rest/entity/{name}/{key}';
};

export type UpdateEntityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another entity has the value of a unique field; the fault's `detail` names its key to a caller who may read it. Or a request with the same
     * Idempotency-Key is still under way: send it again a little later.
     *
     */
    409: Problem & {
        code?: 'unique-conflict' | 'idempotency-in-progress';
    };
    /**
     * A request with the same Idempotency-Key has taken effect before. Its answer cannot be given again: the history no longer has that version of the
     * entity, or the caller may not reach it any more. Nothing was written again.
     *
     */
    410: Problem & {
        code?: 'answer-gone';
    };
    /**
     * The version is no longer the one named in If-Match.
     */
    412: Problem & {
        code?: 'precondition-failed';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The fields do not fit the declared type, or the Idempotency-Key came with another request before.
     */
    422: Problem & {
        code?: 'validation-failed' | 'idempotency-key-reused';
    };
    /**
     * The entity's type requires If-Match, and the request has none.
     */
    428: Problem & {
        code?: 'precondition-required';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type UpdateEntityError = UpdateEntityErrors[keyof UpdateEntityErrors];

export type UpdateEntityResponses = {
    /**
     * The entity.
     */
    200: Entity;
};

export type UpdateEntityResponse = UpdateEntityResponses[keyof UpdateEntityResponses];

export type ListVersionsData = {
    body?: never;
    headers?: {
        /**
         * The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
         * lack changes of the last two seconds, or of the time that the operator allows.
         *
         */
        'Consistency-Token'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
        /**
         * The entity's key, in canonical decimal digits.
         */
        key: Int64;
    };
    query?: {
        /**
         * The most versions of the page, 1 to 100; 20 without it. 8 MiB may allow fewer.
         */
        limit?: string;
        /**
         * The `next` of a page, to get the page after it.
         */
        cursor?: string;
        /**
         * Whether names of entities come beside them, of types with `x-label`: `label` of each entity, and `labels` of those that references lead to. The caller sees
         * the names that its actions `label` and `read` cover. A page has at most 5,000 names, and ends before the item that has more.
         *
         */
        labels?: Flag;
    };
    url: '/rest/entity/{name}/{key}/history';
};

export type ListVersionsErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ListVersionsError = ListVersionsErrors[keyof ListVersionsErrors];

export type ListVersionsResponses = {
    /**
     * The versions.
     */
    200: EntityHistory;
};

export type ListVersionsResponse = ListVersionsResponses[keyof ListVersionsResponses];

export type RestoreEntityData = {
    /**
     * A JSON merge patch of the restored fields.
     */
    body?: Fields;
    headers?: {
        /**
         * Act only if the entity's ETag is one of these; `*` if it exists. A tag that a proxy has made weak, `W/"3"`, counts as the same.
         */
        'If-Match'?: string;
        /**
         * 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
         * backslash precedes `"` and a backslash. The quotes are not part of the key.
         *
         * A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
         * name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
         * them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
         * `idempotency-in-progress`. A refusal is not stored.
         *
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
        /**
         * The entity's key, in canonical decimal digits.
         */
        key: Int64;
    };
    query?: {
        /**
         * The version whose fields the entity gets. Without it an entity in the trash gets the last ones.
         */
        version?: string;
    };
    url: '/rest/entity/{name}/{key}/restore';
};

export type RestoreEntityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another entity has the value of a unique field; the fault's `detail` names its key to a caller who may read it. Or a request with the same
     * Idempotency-Key is still under way: send it again a little later.
     *
     */
    409: Problem & {
        code?: 'unique-conflict' | 'idempotency-in-progress';
    };
    /**
     * A request with the same Idempotency-Key has taken effect before. Its answer cannot be given again: the history no longer has that version of the
     * entity, or the caller may not reach it any more. Nothing was written again.
     *
     */
    410: Problem & {
        code?: 'answer-gone';
    };
    /**
     * The version is no longer the one named in If-Match.
     */
    412: Problem & {
        code?: 'precondition-failed';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The fields do not fit the declared type, or the Idempotency-Key came with another request before.
     */
    422: Problem & {
        code?: 'validation-failed' | 'idempotency-key-reused';
    };
    /**
     * The entity's type requires If-Match, and the request has none.
     */
    428: Problem & {
        code?: 'precondition-required';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type RestoreEntityError = RestoreEntityErrors[keyof RestoreEntityErrors];

export type RestoreEntityResponses = {
    /**
     * The entity, in its new version.
     */
    200: Entity;
};

export type RestoreEntityResponse = RestoreEntityResponses[keyof RestoreEntityResponses];

export type RunBatchData = {
    /**
     * The operations.
     */
    body: Batch;
    headers?: {
        /**
         * 1 to 255 printable ASCII characters of the client's choice, best a random UUID. It is sent bare or as a quoted string, in which a
         * backslash precedes `"` and a backslash. The quotes are not part of the key.
         *
         * A repeat of a request that took effect changes nothing for 24 hours. The same key of the same user, for the same operation and entity
         * name, gets the first answer again, marked by `Idempotency-Replayed`. The entities in it are as they were then, whatever has become of
         * them. With another path, precondition or body it is 422 `idempotency-key-reused`. While the first request is under way it is 409
         * `idempotency-in-progress`. A refusal is not stored.
         *
         */
        'Idempotency-Key'?: string;
        /**
         * `dry-run` (RFC 7240), without a value, tries the batch and writes nothing. Other preferences are ignored.
         */
        Prefer?: string;
    };
    path?: never;
    query?: never;
    url: '/rest/batch';
};

export type RunBatchErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Another entity has the value of a unique field; the fault's `detail` names its key to a caller who may read it. Or other entities keep one from
     * being deleted. Or a request with the same Idempotency-Key is still under way; send it again a little later.
     *
     */
    409: Problem & {
        code?: 'unique-conflict' | 'still-referenced' | 'idempotency-in-progress';
    };
    /**
     * The version is no longer the one named in If-Match.
     */
    412: Problem & {
        code?: 'precondition-failed';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The fields do not fit the declared type, or the Idempotency-Key came with another request before.
     */
    422: Problem & {
        code?: 'validation-failed' | 'idempotency-key-reused';
    };
    /**
     * The entity's type requires If-Match, and the request has none.
     */
    428: Problem & {
        code?: 'precondition-required';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type RunBatchError = RunBatchErrors[keyof RunBatchErrors];

export type RunBatchResponses = {
    /**
     * The outcome of each operation.
     */
    200: BatchResults;
};

export type RunBatchResponse = RunBatchResponses[keyof RunBatchResponses];

export type ExportEntitiesData = {
    body?: never;
    headers?: {
        /**
         * The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
         * lack changes of the last two seconds, or of the time that the operator allows.
         *
         */
        'Consistency-Token'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: {
        /**
         * Of the file. Without it the header decides, `Accept` or `Content-Type`; NDJSON if both will do.
         */
        format?: 'ndjson' | 'csv';
        /**
         * Which entities: the JSON text of a `Filter`. A field without a declared type is compared with values of the same JSON type. `$in` has
         * 200 values at most.
         *
         */
        filter?: string;
        /**
         * Words that the entities must have in the texts that the `x-search` of the declared type names, as a web search reads them: all words,
         * `"a phrase"`, `or`, and `-` in front of a word for none. A word finds the words that begin with it, without regard to case and accents. Without `sort` the best matches come first if there are at most 10,000, else
         * the list is by key. A name without `x-search` is 422.
         *
         */
        search?: string;
        /**
         * Up to four fields, separated by commas; `-` in front sorts descending, a dot leads into an object. `$key`, `$version`, `$createdAt`,
         * `$createdBy`, `$updatedAt` and `$updatedBy` are not fields and sort, too. By default the list is sorted by `$key`, and entities that
         * are equal by the sort are in the order of their keys. Entities without a value come last, descending first.
         *
         */
        sort?: string;
        /**
         * The fields to send, up to 50, separated by commas; a dot leads into an object. Without it all are sent.
         */
        fields?: string;
        /**
         * `true` puts an apostrophe in front of texts and names of columns that begin with `=`, `+`, `-`, `@`, tab or carriage return, also after
         * apostrophes. Spreadsheets take such texts for formulas. Numbers, and the values of the formats `decimal` and `int64`, stay as they are. An
         * import with `csvSafe=true` removes the apostrophes.
         *
         */
        csvSafe?: 'true' | 'false';
        /**
         * The separator of the cells of CSV.
         */
        delimiter?: 'comma' | 'semicolon' | 'tab';
        /**
         * `true` begins CSV with a byte order mark, by which Excel recognises UTF-8.
         */
        bom?: 'true' | 'false';
    };
    url: '/rest/entity/{name}/export';
};

export type ExportEntitiesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The filter, the sort, a field or an include is not accepted, or the query would cost too much.
     */
    422: Problem & {
        code?: 'validation-failed' | 'query-too-expensive';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ExportEntitiesError = ExportEntitiesErrors[keyof ExportEntitiesErrors];

export type ExportEntitiesResponses = {
    /**
     * The entities.
     */
    200: string;
};

export type ExportEntitiesResponse = ExportEntitiesResponses[keyof ExportEntitiesResponses];

export type ExportQueryData = {
    /**
     * The entities to export, and the form of the file; all members are optional.
     */
    body: EntityExport;
    headers?: {
        /**
         * The `Consistency-Token` of an answer to a write. The answer then has that write. Without it, a service that reads from a standby may
         * lack changes of the last two seconds, or of the time that the operator allows.
         *
         */
        'Consistency-Token'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: never;
    url: '/rest/entity/{name}/export';
};

export type ExportQueryErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * The filter, the sort, a field or an include is not accepted, or the query would cost too much.
     */
    422: Problem & {
        code?: 'validation-failed' | 'query-too-expensive';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ExportQueryError = ExportQueryErrors[keyof ExportQueryErrors];

export type ExportQueryResponses = {
    /**
     * The entities.
     */
    200: string;
};

export type ExportQueryResponse = ExportQueryResponses[keyof ExportQueryResponses];

export type ImportEntitiesData = {
    /**
     * The file.
     */
    body: string;
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: {
        /**
         * Of the file. Without it the header decides, `Accept` or `Content-Type`; NDJSON if both will do.
         */
        format?: 'ndjson' | 'csv';
        /**
         * Keys and versions in a file that another database has exported. `refuse`: a row that depends on one is refused. `keep`: they count, as
         * if this database had exported the file.
         *
         */
        keys?: 'refuse' | 'keep';
        /**
         * The fields of a unique rule, with commas between and dots into objects. Entities with the values of a row are updated. `$key`: the entity
         * with the key of the row is updated, and a row without a key creates one. A key of no entity is refused.
         *
         */
        by?: string;
        /**
         * How a row changes the entity that it updates. `update`: its members replace those of the entity, inside of objects too, and the others stay.
         * A field whose cell is empty is removed. `replace`: a row has all fields of the entity; others are removed. `merge`: it is merged into them, as
         * by `updateEntity`, so that null removes.
         *
         */
        mode?: 'update' | 'replace' | 'merge';
        /**
         * `true` writes nothing, and reports what an import would do.
         */
        dryRun?: 'true' | 'false';
        /**
         * The first row that counts, to go on after an import that ended early. Rows are lines in NDJSON; the header of CSV is row 1.
         */
        fromRow?: string;
        /**
         * The separator of the cells of CSV.
         */
        delimiter?: 'comma' | 'semicolon' | 'tab';
        /**
         * `true` removes the apostrophes that an export with `csvSafe=true` has put in front of texts and names of columns.
         */
        csvSafe?: 'true' | 'false';
    };
    url: '/rest/entity/{name}/import';
};

export type ImportEntitiesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Well-formed, but not what is asked for.
     */
    422: Problem & {
        code?: 'validation-failed';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ImportEntitiesError = ImportEntitiesErrors[keyof ImportEntitiesErrors];

export type ImportEntitiesResponses = {
    /**
     * The report.
     */
    200: string;
};

export type ImportEntitiesResponse = ImportEntitiesResponses[keyof ImportEntitiesResponses];

export type ListEntityTypesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/rest/entity-type';
};

export type ListEntityTypesErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type ListEntityTypesError = ListEntityTypesErrors[keyof ListEntityTypesErrors];

export type ListEntityTypesResponses = {
    /**
     * The types.
     */
    200: EntityTypeList;
};

export type ListEntityTypesResponse = ListEntityTypesResponses[keyof ListEntityTypesResponses];

export type DeleteEntityTypeData = {
    body?: never;
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: {
        /**
         * The digest of the plan.
         */
        confirm?: string;
    };
    url: '/rest/entity-type/{name}';
};

export type DeleteEntityTypeErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * The change loses something, or hides or shows a field, and `confirm` is not the digest of its plan. Or stored entities do not fit the document, a limit
     * is exceeded, other types refer to the one that is deleted, or a process of an older version would show a sensitive field.
     *
     */
    409: Problem & {
        code?: 'confirmation-required' | 'older-version' | 'type-conflict';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type DeleteEntityTypeError = DeleteEntityTypeErrors[keyof DeleteEntityTypeErrors];

export type DeleteEntityTypeResponses = {
    /**
     * The name has no type any more.
     */
    204: void;
};

export type DeleteEntityTypeResponse = DeleteEntityTypeResponses[keyof DeleteEntityTypeResponses];

export type GetEntityTypeData = {
    body?: never;
    headers?: {
        /**
         * Answer 304 if the type's ETag is one of these.
         */
        'If-None-Match'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: never;
    url: '/rest/entity-type/{name}';
};

export type GetEntityTypeErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type GetEntityTypeError = GetEntityTypeErrors[keyof GetEntityTypeErrors];

export type GetEntityTypeResponses = {
    /**
     * The type.
     */
    200: EntityType;
};

export type GetEntityTypeResponse = GetEntityTypeResponses[keyof GetEntityTypeResponses];

export type PutEntityTypeData = {
    /**
     * The type's document, a JSON Schema (2020-12).
     */
    body: TypeDocument;
    headers?: {
        /**
         * Act only if the type's ETag is one of these; `*` if there is a type. A tag that a proxy has made weak, `W/"7"`, counts as the same.
         */
        'If-Match'?: string;
        /**
         * `*`: act only if the name has no type.
         */
        'If-None-Match'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: {
        /**
         * Accept stored entities that do not fit.
         */
        allowUnfit?: Flag;
        /**
         * The digest of the plan, for a change with the effect `narrow`, `widen` or `loss`.
         */
        confirm?: string;
    };
    url: '/rest/entity-type/{name}';
};

export type PutEntityTypeErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * The change loses something, or hides or shows a field, and `confirm` is not the digest of its plan. Or stored entities do not fit the document, a limit
     * is exceeded, other types refer to the one that is deleted, or a process of an older version would show a sensitive field.
     *
     */
    409: Problem & {
        code?: 'confirmation-required' | 'older-version' | 'type-conflict';
    };
    /**
     * The version is no longer the one named in If-Match.
     */
    412: Problem & {
        code?: 'precondition-failed';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Well-formed, but not what is asked for.
     */
    422: Problem & {
        code?: 'validation-failed';
    };
    /**
     * The entity's type requires If-Match, and the request has none.
     */
    428: Problem & {
        code?: 'precondition-required';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type PutEntityTypeError = PutEntityTypeErrors[keyof PutEntityTypeErrors];

export type PutEntityTypeResponses = {
    /**
     * The type.
     */
    200: EntityType;
    /**
     * The name has a type from now on.
     */
    201: EntityType;
};

export type PutEntityTypeResponse = PutEntityTypeResponses[keyof PutEntityTypeResponses];

export type PlanEntityTypeData = {
    /**
     * The new document; none for the deletion of the type.
     */
    body: TypeChange;
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: never;
    url: '/rest/entity-type/{name}/plan';
};

export type PlanEntityTypeErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Stored entities do not fit the document, or a limit is exceeded.
     */
    409: Problem & {
        code?: 'type-conflict';
    };
    /**
     * The body is larger than this operation takes.
     */
    413: Problem & {
        code?: 'content-too-large';
    };
    /**
     * The body is of a type, charset or encoding that this operation does not take.
     */
    415: Problem & {
        code?: 'unsupported-media-type';
    };
    /**
     * Well-formed, but not what is asked for.
     */
    422: Problem & {
        code?: 'validation-failed';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type PlanEntityTypeError = PlanEntityTypeErrors[keyof PlanEntityTypeErrors];

export type PlanEntityTypeResponses = {
    /**
     * The plan.
     */
    200: TypePlan;
};

export type PlanEntityTypeResponse = PlanEntityTypeResponses[keyof PlanEntityTypeResponses];

export type DescribeEntityData = {
    body?: never;
    headers?: {
        /**
         * Answer 304 if the description's ETag is one of these.
         */
        'If-None-Match'?: string;
    };
    path: {
        /**
         * The entity's name.
         */
        name: EntityName;
    };
    query?: never;
    url: '/rest/entity/{name}/describe';
};

export type DescribeEntityErrors = {
    /**
     * The request is malformed, a parameter is invalid, or it carries two credentials.
     */
    400: Problem & {
        code?: 'malformed-request' | 'invalid-key' | 'ambiguous-credentials';
    };
    /**
     * No credential, or one that is not valid.
     */
    401: Problem & {
        code?: 'unauthenticated' | 'invalid-token';
    };
    /**
     * No role of the active profile grants this, or not on this entity, which the caller may read. Or the credential is too narrow, the bearer token belongs to no user of this service, or the request
     * came from a foreign site.
     *
     */
    403: Problem & {
        code?: 'forbidden' | 'field-forbidden' | 'insufficient-scope' | 'csrf-rejected' | 'identity-not-linked';
    };
    /**
     * There is no such thing, or the caller may not know of it.
     */
    404: Problem & {
        code?: 'not-found';
    };
    /**
     * Accept rules out the media types that the operation answers with.
     */
    406: Problem & {
        code?: 'not-acceptable';
    };
    /**
     * Too many requests or failed attempts.
     */
    429: Problem & {
        code?: 'rate-limited';
    };
    /**
     * Something the service depends on is out of reach, or it is at its limit. Nothing is wrong with the request.
     */
    503: Problem & {
        code?: 'unavailable' | 'busy' | 'issuer-unavailable' | 'outcome-unknown';
    };
};

export type DescribeEntityError = DescribeEntityErrors[keyof DescribeEntityErrors];

export type DescribeEntityResponses = {
    /**
     * The description.
     */
    200: EntityDescription;
};

export type DescribeEntityResponse = DescribeEntityResponses[keyof DescribeEntityResponses];
