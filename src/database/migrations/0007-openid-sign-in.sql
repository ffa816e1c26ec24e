-- Signing in at an OpenID provider.

-- From when a browser leaves for the provider until it comes back, to sign in or to link an identity. Nobody who reads this table can finish
-- what is under way: that takes the state and the cookie, which are kept as hashes only, and a code that only the browser is given.
create table openid_transaction (
  -- SHA-256 of the parameter `state`.
  state_hash    bytea primary key check (octet_length(state_hash) = 32),
  -- SHA-256 of the cookie of the browser that left.
  browser_hash  bytea not null check (octet_length(browser_hash) = 32),
  issuer        text not null,
  nonce         text not null,
  code_verifier text not null,
  -- Where on this service's origin the browser goes in the end.
  return_path   text not null,
  -- The session whose user links an identity; null for a sign-in.
  session_id    uuid references session on delete cascade,
  expires_at    timestamptz not null default now() + interval '10 minutes'
);
create index openid_transaction_browser_hash_idx on openid_transaction (browser_hash);
create index openid_transaction_expires_at_idx on openid_transaction (expires_at);

alter table session
  -- Of the identity that it was opened by (issuer, subject); null where a password did.
  add column subject text,
  -- The issuer's name for its own session (`sid`), by which it says that this one is over.
  add column issuer_session_id text,
  -- Where the user can end the issuer's session as well.
  add column end_session_url text;
create index session_issuer_idx on session (issuer, subject) where issuer is not null and revoked_at is null;
