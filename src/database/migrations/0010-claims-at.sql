-- Profiles that follow a claim follow the newest token: an older one of the same subject changes nothing.
alter table identity
  -- When the newest token was issued whose claims have been applied (`iat`, whole seconds); null until there is one.
  add column claims_at timestamptz;

-- What processes keep of an identity is its user. A newer token with the same claims must not empty every cache.
drop trigger identity_changed on identity;
create trigger identity_changed after update of issuer, subject, user_id or delete or truncate on identity
  for each statement execute function forget_principal();
