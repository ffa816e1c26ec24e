/** The words of rights: the actions, the rows that a grant covers, the scopes of a credential and the ways to sign in. */

/**
 * The actions that a grant or a scope can allow. `type` is the declaration of entity types; all others concern entities. `label` is the right to refer to
 * entities, and to see their names and nothing else of them.
 */
export type Action = 'create' | 'read' | 'update' | 'delete' | 'type' | 'purge' | 'label';
/** The rows that a grant covers: those of all users (`any`), those that the caller created (`own`), or what the rule with this digest allows, 64 hexadecimal digits. */
export type Condition = 'any' | 'own' | RuleDigest;
export type RuleDigest = string & { readonly digest?: unique symbol };
/** The proof with which a session was opened. */
export type SessionMethod = 'password' | 'token' | 'openid';

/** The kinds of rows that have attributes. */
export type AttributeOwner = 'user' | 'profile';

/** One action that a role grants on the entities of one name, or of every name for `*`. */
export interface GrantRow {
  entity: string;
  action: Action;
  condition: Condition;
}

/** One entry of a ceiling (`scopes`): the named actions on the named entity, or on every entity for `*`. */
export interface Scope {
  entity: string;
  actions: Action[];
}

/** The actions on entities. */
export const entityActions = ['create', 'read', 'update', 'delete'] as const satisfies readonly Action[];

/** Every action, in the order in which they are shown. */
export const allActions: readonly Action[] = [...entityActions, 'type', 'purge', 'label'];
