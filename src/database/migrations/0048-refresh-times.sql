-- runs beside: 0.1.0
-- When a refresh has replaced the token; null if another transition has. `superseded_at` is the beginning of the ten seconds for requests in flight: a further
-- transition or a late first use moves it, for all tokens that no used one has replaced.
alter table superseded_token add column refreshed_at timestamptz;
