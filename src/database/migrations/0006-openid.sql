-- runs beside: 0.1.0
-- Signing in at an OpenID provider with a browser.

-- A sign-in or a link under way, from the redirect to the provider until the browser comes back. A reader of the table cannot finish it: that takes
-- the state and the cookie, of which only hashes are stored, and the provider's code, which is not stored.
create table openid_transaction (
  -- SHA-256 of the parameter `state`.
  state_hash    bytea primary key check (octet_length(state_hash) = 32),
  -- SHA-256 of the cookie of the browser that was redirected.
  browser_hash  bytea not null check (octet_length(browser_hash) = 32),
  issuer        text not null,
  nonce         text not null,
  code_verifier text not null,
  -- The path on this service's origin to which the browser is sent at the end.
  return_path   text not null,
  -- The session whose user links an identity. Null: a sign-in.
  session_id    uuid references session on delete cascade,
  expires_at    timestamptz not null default now() + interval '10 minutes'
);
create index openid_transaction_browser_hash_idx on openid_transaction (browser_hash);
-- For the deletion of expired transactions.
create index openid_transaction_expires_at_idx on openid_transaction (expires_at);
