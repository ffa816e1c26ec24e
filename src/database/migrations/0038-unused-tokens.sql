-- runs beside: 0.1.0
-- While the token of a session has not been used since a transition, the token that it has replaced stays valid: the client may not have received it.
-- Both columns are null once the token has been used. A version that does not know them changes `token_hash` alone, and they count no more.
alter table session
  add column unused_token_hash bytea,
  add column predecessor_hash bytea;
