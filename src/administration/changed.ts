/** The outcome of a change that may find the wanted state already. Such a change writes no audit event. */
export interface Changed<T> {
  /** As it is behind the change. */
  state: T;
  changed: boolean;
}
