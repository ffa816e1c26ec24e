/** The English texts, also for callers whose language the service lacks. Written for developers and users, not for operators. */

import type { Catalogue } from './catalogue.ts';

export const en: Catalogue = {
  problems: {
    'malformed-request': {
      title: 'Malformed request',
      detail: 'The request does not have the documented form. Compare it with the API description and correct the places listed, if any.',
    },
    'invalid-key': {
      title: 'Invalid entity key',
      detail: 'The key must be a 64-bit integer in decimal digits, without leading zeros, plus sign or spaces.',
    },
    'ambiguous-credentials': {
      title: 'Ambiguous credentials',
      detail: 'The request carries more than one credential. Send exactly one.',
    },
    'sign-in-failed': {
      title: 'Sign-in failed',
      detail:
        'The sign-in with the provider was not completed: it was cancelled, took too long, was begun in another browser, or the provider sent an answer that is not valid. Start again. If it fails again, ask the operator for the reason.',
    },
    unauthenticated: {
      title: 'Authentication required',
      detail:
        'The credentials are missing, unknown, expired or revoked, or the session has ended. Sign in, or send an API key or an access token.',
    },
    'invalid-credentials': {
      title: 'Invalid credentials',
      detail: 'The credentials are incorrect or no longer valid. Check them and try again.',
    },
    'invalid-token': {
      title: 'Invalid access token',
      detail: 'The access token is malformed, has expired or is not meant for this service. Obtain a new one from its issuer.',
    },
    forbidden: {
      title: 'Not permitted',
      detail:
        'Your roles or your kind of credential do not permit this operation. Use another profile or credential, or ask an administrator for access.',
    },
    'field-forbidden': {
      title: 'Field not permitted',
      detail:
        'Your rights do not permit this value of a field. Each fault names a field. Leave it out, or ask an administrator for access.',
    },
    'insufficient-scope': {
      title: 'Insufficient scope',
      detail: 'The scopes of your credential do not cover this operation. Use a credential with the necessary scopes.',
    },
    'csrf-rejected': {
      title: 'Request from another site rejected',
      detail:
        'The request appears to come from another website. Send it from the application itself, or ask the operator to trust its origin.',
    },
    'credential-mismatch': {
      title: 'Current password not accepted',
      detail: 'The current password is incorrect. Enter it again; your session remains valid.',
    },
    'identity-not-linked': {
      title: 'Identity not linked',
      detail: 'Your identity was confirmed, but no user of this service is linked to it. Ask an administrator to link it.',
    },
    'fresh-login-required': {
      title: 'Recent sign-in required',
      detail: 'This operation requires a recent sign-in. Sign in again and repeat it.',
    },
    'not-found': {
      title: 'Not found',
      detail: 'Nothing was found at this address, or it is not visible to you. Check the path, the name and the key.',
    },
    'method-not-allowed': {
      title: 'Method not allowed',
      detail: 'This address does not support the request method. Use a supported one[: {allowed}].',
    },
    'not-acceptable': {
      title: 'Not acceptable',
      detail: 'None of the formats you accept can be produced. Accept a supported one[: {allowed}].',
    },
    'request-timeout': {
      title: 'Request timed out',
      detail: 'The request did not arrive completely in time. Send it again.',
    },
    conflict: {
      title: 'Conflict',
      detail: 'The request conflicts with existing data. Read the current state and adjust the request.',
    },
    'last-sign-in-method': {
      title: 'Last way to sign in',
      detail: 'You could not sign in without this link. Link another identity first, or ask an administrator to set a password for you.',
    },
    'refresh-conflict': {
      title: 'Session already refreshed',
      detail: 'Another request has already refreshed this session. Continue with the cookie that request received.',
    },
    'type-conflict': {
      title: 'Type not applicable',
      detail: 'Stored entities do not fit this type, or a limit is exceeded. The plan of the change lists them.',
    },
    'unique-conflict': {
      title: 'Value already used',
      detail: 'Another entity has the same value of a unique field. Use another value, or change that entity.',
    },
    'still-referenced': {
      title: 'Still referenced',
      detail: 'Other entities refer to this one. Delete them or change their references first.',
    },
    'older-version': {
      title: 'Older version still running',
      detail:
        'Processes of an older version, which cannot enforce this right, still run[: {hosts}]. Repeat the request when they have ended.',
    },
    'in-use': {
      title: 'In use',
      detail: 'Rules of these roles use it[: {roles}]. Change or revoke these rules first.',
    },
    'position-gone': {
      title: 'No longer available',
      detail: 'The state at this time is no longer stored, or never existed. Request a later time.',
    },
    'confirmation-required': {
      title: 'Confirmation required',
      detail:
        'This change removes a type or stored versions, or hides or shows a field. Read its plan, and repeat the request with the digest of the plan.',
    },
    'idempotency-in-progress': {
      title: 'Still in progress',
      detail:
        'Another request with this Idempotency-Key is still in progress. Send yours again, unchanged,[ in {seconds}] to get its outcome.',
    },
    'answer-gone': {
      title: 'Answer no longer available',
      detail: 'This Idempotency-Key has already taken effect once, and its answer is no longer stored: retrieve the entity.',
    },
    'precondition-failed': {
      title: 'Precondition failed',
      detail: 'The entity has changed since you read it. Read it again, then repeat your change with the new ETag in If-Match.',
    },
    'content-too-large': {
      title: 'Content too large',
      detail: 'The request body, or the entity as it would be stored, is too large. Send less[ (at most {limit})].',
    },
    'uri-too-long': {
      title: 'URI too long',
      detail: 'The address of the request is too long. Shorten it[ (at most {limit})].',
    },
    'unsupported-media-type': {
      title: 'Unsupported media type',
      detail: 'The content type, character set or content encoding of the body is not supported here. Use a supported one[: {allowed}].',
    },
    'validation-failed': {
      title: 'Validation failed',
      detail: 'The request is well-formed, but some of its values are not accepted. Correct the places listed and send it again.',
    },
    'password-rejected': {
      title: 'Password rejected',
      detail: 'The new password does not meet the requirements. Choose another one, taking the listed reasons into account.',
    },
    'idempotency-key-reused': {
      title: 'Idempotency-Key already used',
      detail: 'This Idempotency-Key was used for another request. Use a new key for a new request; repeat a request unchanged.',
    },
    'query-too-expensive': {
      title: 'Query too expensive',
      detail: 'The query would cost too much. Narrow the filter, sort by $key, or leave out the count.',
    },
    'too-many-refusals': {
      title: 'Too many refusals',
      detail:
        'The import has ended because it has refused too many rows.[ Limit: {limit}.] Mend the file, or go on behind the last row with fromRow.',
    },
    'too-many-rows': {
      title: 'Too many rows',
      detail:
        'The import has ended because the file has more unique values than are compared.[ Limit: {limit}.] Go on behind the last row with fromRow.',
    },
    'precondition-required': {
      title: 'Precondition required',
      detail:
        'This change needs a precondition: the ETag of what it changes in If-Match, in a batch the version in ifMatch, or If-None-Match: * to create.',
    },
    'rate-limited': {
      title: 'Too many requests',
      detail: 'Too many requests or attempts were made. Wait[ {seconds}] before you try again.',
    },
    'headers-too-large': {
      title: 'Header fields too large',
      detail: 'The header fields of the request are too large. Shorten them[ (at most {limit} in total)].',
    },
    'internal-error': {
      title: 'Internal error',
      detail: 'The service failed unexpectedly. If it happens again, give the operator the value of "instance".',
    },
    unavailable: {
      title: 'Service unavailable',
      detail: 'The service cannot answer at the moment. Please try again[ in {seconds}].',
    },
    busy: {
      title: 'Service busy',
      detail: 'The service is working to capacity at the moment. Please try again[ in {seconds}].',
    },
    'issuer-unavailable': {
      title: 'Issuer unavailable',
      detail: 'The issuer that confirms your identity cannot be reached at the moment. Please try again[ in {seconds}].',
    },
    'outcome-unknown': {
      title: 'Outcome unknown',
      detail:
        'The connection was lost before the outcome was known, so the change may or may not have been made. ' +
        'Check the current state[ in {seconds}] before you repeat the request.',
    },
  },
  faults: {
    unknown: 'This name is not known here. Check its spelling or remove it.[ Write {instead} instead.]',
    repeated: 'This may be given only once.',
    'other-header': 'This credential is sent in another header.[ Send it as {header}.]',
    required: 'This is required.',
    conflicting: 'This cannot be combined with the other values of the request.',
    'invalid-value': 'This value is not accepted.[ Accepted: {allowed}.][ Minimum: {minimum}.][ Maximum: {maximum}.]',
    'invalid-type': 'This value is of the wrong type.[ Expected: {allowed}.]',
    'invalid-encoding': 'This is not encoded correctly. Use UTF-8 and, where it applies, valid percent-encoding.',
    'too-short': 'This is too short.[ Minimum length: {minimum}.]',
    'too-long': 'This is too long.[ Maximum length: {maximum}.]',
    'invalid-json': 'This is not valid JSON.[ The error is at position {position}.]',
    'invalid-csv': 'This row is not valid CSV: a quote is missing, or is in the wrong place.',
    'cell-count': 'This row does not have as many cells as the header.',
    'unnamed-column': 'The cell has a value, but its column has no name in the header. Name the column, or name it $ignore.',
    'other-delimiter': 'The header seems to have another delimiter.[ Set delimiter to {delimiter}.]',
    'other-database':
      'The file comes from another database, where this belongs to another entity than here.[ Name the entity by its values: {instead}.]',
    'duplicate-member': 'This object has two members of the same name. Keep only one.',
    'number-not-exact': 'This number cannot be stored exactly. Use fewer digits or send it as a string.',
    'nul-character': 'Text must not contain the character U+0000.',
    'lone-surrogate': 'Text must not contain an incomplete surrogate pair.',
    'too-deep': 'This is nested too deeply.[ Maximum depth: {limit}.]',
    'too-many-values': 'There are too many values.[ Maximum number: {limit}.]',
    'too-costly': 'This takes too long to check. Make it shorter or simpler.',
    'type-too-costly': 'The patterns of the type take too long to check. Declare it with simpler ones.',
    'type-not-supported':
      'This version cannot check fields against the type. Declare the type again; "doctor" says where it needs a change.',
    'member-name-too-long': 'A member of this object has too long a name.[ Maximum length: {limit}.]',
    'member-name-reserved': 'The name of this member is reserved. Use another one.',
    'invalid-cursor': 'This cursor does not belong to this list. Begin again without it.',
    'unknown-field': 'The type of the entity has no such field[: {name}]. Check its spelling.[ Write {instead} instead.]',
    'unknown-operator': 'There is no such operator. Check its spelling.',
    'unknown-variable': 'There is no such variable. Check its spelling.',
    'not-writable': 'Your rights do not let you write this field.',
    'value-forbidden': 'Your rights do not permit this value.',
    'not-filterable': 'A field of this type cannot be used in this way.[ Supported operators: {allowed}.]',
    'not-addressable':
      'A name that begins with $ is no field. Filters and sorts may use $key, $version, $createdAt, $createdBy, $updatedAt and $updatedBy.',
    'not-a-reference': 'This field is not a reference, so it leads to no entity.[ References: {allowed}.]',
    'needs-index':
      'This needs an index.[ The rule covers {share} % of the entities.][ Fields: {fields}.][ Add {entry} to x-index.][ Access path: {path}.]',
    'time-limit': 'This took too long. It may succeed later; a narrower filter or an index makes it faster.',
    'too-many-tests':
      'The filter has too many tests.[ Maximum number: {limit}.][ Role: {role}.][ Profile: {profile}.][ Rules for: {rules}.]',
    'duplicate-value':
      'Another entity has this value.[ It is that of row {row} of the file.][ Its key is {key}.][ It is {label}.][ These fields are unique together: {fields}.]',
    'reference-not-found': 'There is no entity with this key.',
    referenced: 'Other entities or types refer to this.[ Types: {types}.][ Entities called {name}: {count}.]',
    'too-many-referrers':
      'More than [{limit}] entities would be deleted or changed with it. Delete or change them in portions first, or purge it: a purge does that by itself.',
    'partly-done':
      'Entities that referred to it have been deleted or changed[: {count}].[ The same request goes on with the rest in {seconds}.]',
    'too-common': 'This password is too common. Choose a less common one.',
    'too-predictable': 'This password follows a predictable pattern. Avoid repetitions and sequences.',
    'contains-context': 'This password contains the name of the user or of the service. Leave such words out.',
    breached: 'This password is known from a data breach. Choose another one, and change it wherever else you use it.',
    unchanged: 'The new password is the same as the current one. Choose a different one.',
    'not-repeated-exactly': 'The repetition differs from the new password. Enter the same password twice.',
    refused: 'This is the operation that was refused.',
    'not-supported':
      'The service does not support this here.[ It would have no effect: the service fills in no values and hides no fields. Remove {removed}.][ Remove {surplus}.][ Write {instead} instead.][ The operator has to run this in the database: {statement}.]',
    contradictory: 'This contradicts another keyword[: {keyword}].',
    absent:
      'This does not exist.[ There is no user {user}.][ There is no role {role}.][ There is no profile {profile}.][ There is no API key {key}.][ There is no attribute {attribute} for {of}.][ The user {owner} has no link to the subject {subject} of {issuer}.]',
    taken:
      'This exists already.[ There is a user {user}.][ There is a role {role}.][ There is a profile {profile}.][ The subject {subject} of {issuer} is linked to another user.][ There is a rule {rule}.]',
    'used-by':
      'This is in use.[ Role: {role}.][ Profile: {profile}.][ Used by the profiles {profiles}.][ Used by the users {users}.][ Used by the API keys {keys}.][ And {more} more.][ It is the default profile of {defaultOf}, who has others.][ The rules {rules} grant it too.]',
    disabled: 'This user is disabled[: {user}].',
  },
  expected: {
    'one-of': 'one of [{values}]',
    format: '[{format}][, as {example}][, or {other}]',
    integer: 'an integer from [{minimum}][ to {maximum}]',
    characters: '[{count} of these characters: {characters}][, the first of {first}][, as {example}][, or {other}]',
    'no-control-characters': 'text without control characters',
    pattern: 'text that matches [{pattern}]',
    'at-least': 'at least [{limit}]',
    'at-most': 'at most [{limit}]',
    'more-than': 'more than [{limit}]',
    'less-than': 'less than [{limit}]',
    'multiple-of': 'a multiple of [{limit}]',
    'minimum-length': 'minimum length [{limit}]',
    'maximum-length': 'maximum length [{limit}]',
    'minimum-items': 'minimum number of items [{limit}]',
    'maximum-items': 'maximum number of items [{limit}]',
    'minimum-members': 'minimum number of members [{limit}]',
    'maximum-members': 'maximum number of members [{limit}]',
    'different-items': 'items that all differ',
  },
  page: { retry: 'Start again', back: 'Back to the application' },
};
