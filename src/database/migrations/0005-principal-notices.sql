-- runs beside: 0.1.0
-- Notices to all processes. Each process remembers verified credentials for a few seconds. These triggers tell it which principals to forget: those
-- of one session, one key or one user, or all of them when rights change. PostgreSQL delivers the notices after the commit, in commit order.

-- The argument names the kind of the changed row. Without one, all principals are forgotten.
create function forget_principal() returns trigger language plpgsql as $$
begin
  if tg_level = 'ROW' then
    perform pg_notify('principal', tg_argv[0] || ' ' || old.id);
  else
    perform pg_notify('principal', 'all');
  end if;
  return null;
end $$;

create trigger session_changed after update of token_hash, profile_id, idle_expires_at, expires_at, revoked_at, locale on session
  for each row execute function forget_principal('session');
create trigger session_removed after delete on session for each row execute function forget_principal('session');
create trigger api_key_changed after update of key_hash, profile_id, scopes, expires_at, revoked_at on api_key
  for each row execute function forget_principal('key');
create trigger user_account_changed after update of active, credential_version, display_name on user_account
  for each row execute function forget_principal('user');

-- A new link needs no notice: no process remembers an unlinked identity as a principal. A change of claims_at needs none either: it does not
-- change the user.
create trigger identity_changed after update of issuer, subject, user_id or delete or truncate on identity
  for each statement execute function forget_principal();

create trigger role_grant_changed after insert or update or delete or truncate on role_grant
  for each statement execute function forget_principal();
create trigger role_changed after update or delete on role for each statement execute function forget_principal();
create trigger profile_changed after update or delete on profile for each statement execute function forget_principal();
create trigger profile_role_changed after insert or update or delete or truncate on profile_role
  for each statement execute function forget_principal();
create trigger user_profile_changed after insert or update or delete or truncate on user_profile
  for each statement execute function forget_principal();
