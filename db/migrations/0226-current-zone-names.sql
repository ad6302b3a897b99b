-- Zones that stand under a name that IANA has replaced get the current one: the PostgreSQL of many systems no longer has the old names,
-- and a database may be brought to one of those.
create temporary table "old_zones" ("name" text primary key, "current" text not null) on commit drop;
insert into "old_zones" values
  ('Africa/Asmera', 'Africa/Asmara'), ('Africa/Timbuktu', 'Africa/Bamako'),
  ('America/Argentina/ComodRivadavia', 'America/Argentina/Catamarca'), ('America/Atka', 'America/Adak'),
  ('America/Buenos_Aires', 'America/Argentina/Buenos_Aires'), ('America/Catamarca', 'America/Argentina/Catamarca'),
  ('America/Coral_Harbour', 'America/Atikokan'), ('America/Cordoba', 'America/Argentina/Cordoba'), ('America/Ensenada', 'America/Tijuana'),
  ('America/Fort_Wayne', 'America/Indiana/Indianapolis'), ('America/Godthab', 'America/Nuuk'),
  ('America/Indianapolis', 'America/Indiana/Indianapolis'), ('America/Jujuy', 'America/Argentina/Jujuy'),
  ('America/Knox_IN', 'America/Indiana/Knox'), ('America/Louisville', 'America/Kentucky/Louisville'),
  ('America/Mendoza', 'America/Argentina/Mendoza'), ('America/Montreal', 'America/Toronto'), ('America/Nipigon', 'America/Toronto'),
  ('America/Pangnirtung', 'America/Iqaluit'), ('America/Porto_Acre', 'America/Rio_Branco'), ('America/Rainy_River', 'America/Winnipeg'),
  ('America/Rosario', 'America/Argentina/Cordoba'), ('America/Santa_Isabel', 'America/Tijuana'), ('America/Shiprock', 'America/Denver'),
  ('America/Thunder_Bay', 'America/Toronto'), ('America/Virgin', 'America/St_Thomas'), ('America/Yellowknife', 'America/Edmonton'),
  ('Antarctica/South_Pole', 'Antarctica/McMurdo'), ('Asia/Ashkhabad', 'Asia/Ashgabat'), ('Asia/Calcutta', 'Asia/Kolkata'),
  ('Asia/Choibalsan', 'Asia/Ulaanbaatar'), ('Asia/Chongqing', 'Asia/Shanghai'), ('Asia/Chungking', 'Asia/Shanghai'),
  ('Asia/Dacca', 'Asia/Dhaka'), ('Asia/Harbin', 'Asia/Shanghai'), ('Asia/Istanbul', 'Europe/Istanbul'), ('Asia/Kashgar', 'Asia/Urumqi'),
  ('Asia/Katmandu', 'Asia/Kathmandu'), ('Asia/Macao', 'Asia/Macau'), ('Asia/Rangoon', 'Asia/Yangon'), ('Asia/Saigon', 'Asia/Ho_Chi_Minh'),
  ('Asia/Tel_Aviv', 'Asia/Jerusalem'), ('Asia/Thimbu', 'Asia/Thimphu'), ('Asia/Ujung_Pandang', 'Asia/Makassar'),
  ('Asia/Ulan_Bator', 'Asia/Ulaanbaatar'), ('Atlantic/Faeroe', 'Atlantic/Faroe'), ('Atlantic/Jan_Mayen', 'Arctic/Longyearbyen'),
  ('Australia/ACT', 'Australia/Sydney'), ('Australia/Canberra', 'Australia/Sydney'), ('Australia/Currie', 'Australia/Hobart'),
  ('Australia/LHI', 'Australia/Lord_Howe'), ('Australia/NSW', 'Australia/Sydney'), ('Australia/North', 'Australia/Darwin'),
  ('Australia/Queensland', 'Australia/Brisbane'), ('Australia/South', 'Australia/Adelaide'), ('Australia/Tasmania', 'Australia/Hobart'),
  ('Australia/Victoria', 'Australia/Melbourne'), ('Australia/West', 'Australia/Perth'), ('Australia/Yancowinna', 'Australia/Broken_Hill'),
  ('Brazil/Acre', 'America/Rio_Branco'), ('Brazil/DeNoronha', 'America/Noronha'), ('Brazil/East', 'America/Sao_Paulo'),
  ('Brazil/West', 'America/Manaus'), ('CET', 'Europe/Brussels'), ('CST6CDT', 'America/Chicago'), ('Canada/Atlantic', 'America/Halifax'),
  ('Canada/Central', 'America/Winnipeg'), ('Canada/East-Saskatchewan', 'America/Regina'), ('Canada/Eastern', 'America/Toronto'),
  ('Canada/Mountain', 'America/Edmonton'), ('Canada/Newfoundland', 'America/St_Johns'), ('Canada/Pacific', 'America/Vancouver'),
  ('Canada/Saskatchewan', 'America/Regina'), ('Canada/Yukon', 'America/Whitehorse'), ('Chile/Continental', 'America/Santiago'),
  ('Chile/EasterIsland', 'Pacific/Easter'), ('Cuba', 'America/Havana'), ('EET', 'Europe/Athens'), ('EST', 'America/Panama'),
  ('EST5EDT', 'America/New_York'), ('Egypt', 'Africa/Cairo'), ('Eire', 'Europe/Dublin'), ('Etc/GMT+0', 'Etc/GMT'),
  ('Etc/GMT-0', 'Etc/GMT'), ('Etc/GMT0', 'Etc/GMT'), ('Etc/Greenwich', 'Etc/GMT'), ('Etc/UCT', 'UTC'), ('Etc/UTC', 'UTC'),
  ('Etc/Universal', 'UTC'), ('Etc/Zulu', 'UTC'), ('Europe/Belfast', 'Europe/London'), ('Europe/Kiev', 'Europe/Kyiv'),
  ('Europe/Nicosia', 'Asia/Nicosia'), ('Europe/Tiraspol', 'Europe/Chisinau'), ('Europe/Uzhgorod', 'Europe/Kyiv'),
  ('Europe/Zaporozhye', 'Europe/Kyiv'), ('GB', 'Europe/London'), ('GB-Eire', 'Europe/London'), ('GMT', 'Etc/GMT'), ('GMT+0', 'Etc/GMT'),
  ('GMT-0', 'Etc/GMT'), ('GMT0', 'Etc/GMT'), ('Greenwich', 'Etc/GMT'), ('HST', 'Pacific/Honolulu'), ('Hongkong', 'Asia/Hong_Kong'),
  ('Iceland', 'Atlantic/Reykjavik'), ('Iran', 'Asia/Tehran'), ('Israel', 'Asia/Jerusalem'), ('Jamaica', 'America/Jamaica'),
  ('Japan', 'Asia/Tokyo'), ('Kwajalein', 'Pacific/Kwajalein'), ('Libya', 'Africa/Tripoli'), ('MET', 'Europe/Brussels'),
  ('MST', 'America/Phoenix'), ('MST7MDT', 'America/Denver'), ('Mexico/BajaNorte', 'America/Tijuana'),
  ('Mexico/BajaSur', 'America/Mazatlan'), ('Mexico/General', 'America/Mexico_City'), ('NZ', 'Pacific/Auckland'),
  ('NZ-CHAT', 'Pacific/Chatham'), ('Navajo', 'America/Denver'), ('PRC', 'Asia/Shanghai'), ('PST8PDT', 'America/Los_Angeles'),
  ('Pacific/Enderbury', 'Pacific/Kanton'), ('Pacific/Johnston', 'Pacific/Honolulu'), ('Pacific/Ponape', 'Pacific/Pohnpei'),
  ('Pacific/Samoa', 'Pacific/Pago_Pago'), ('Pacific/Truk', 'Pacific/Chuuk'), ('Pacific/Yap', 'Pacific/Chuuk'), ('Poland', 'Europe/Warsaw'),
  ('Portugal', 'Europe/Lisbon'), ('ROC', 'Asia/Taipei'), ('ROK', 'Asia/Seoul'), ('Singapore', 'Asia/Singapore'),
  ('Turkey', 'Europe/Istanbul'), ('UCT', 'UTC'), ('US/Alaska', 'America/Anchorage'), ('US/Aleutian', 'America/Adak'),
  ('US/Arizona', 'America/Phoenix'), ('US/Central', 'America/Chicago'), ('US/East-Indiana', 'America/Indiana/Indianapolis'),
  ('US/Eastern', 'America/New_York'), ('US/Hawaii', 'Pacific/Honolulu'), ('US/Indiana-Starke', 'America/Indiana/Knox'),
  ('US/Michigan', 'America/Detroit'), ('US/Mountain', 'America/Denver'), ('US/Pacific', 'America/Los_Angeles'),
  ('US/Pacific-New', 'America/Los_Angeles'), ('US/Samoa', 'Pacific/Pago_Pago'), ('Universal', 'UTC'), ('W-SU', 'Europe/Moscow'),
  ('WET', 'Europe/Lisbon'), ('Zulu', 'UTC');

-- One with old files of zones may not know a new name yet.
delete from "old_zones" where "current" not in (select name from pg_timezone_names);

create function pg_temp.current_windows(p_windows jsonb) returns jsonb language sql as $$
  select jsonb_agg(case when o.name is null then w.terms else jsonb_set(w.terms, '{zone}', to_jsonb(o.current)) end order by w.place)
  from jsonb_array_elements(p_windows) with ordinality w(terms, place) left join old_zones o on o.name = w.terms ->> 'zone'
$$;

-- Orders first, of which there may be very many: while they are looked through, nothing that the console saves is locked.
update "top_up_orders" set "plan" = jsonb_set("plan", '{windows}', pg_temp.current_windows("plan" -> 'windows'))
  where "plan" is not null
    and exists (select 1 from jsonb_array_elements("plan" -> 'windows') w(terms) join old_zones o on o.name = w.terms ->> 'zone');
update "spend_caps" c set "zone" = o.current from old_zones o where o.name = c.zone;
update "plans" set "windows" = pg_temp.current_windows("windows")
  where exists (select 1 from jsonb_array_elements("windows") w(terms) join old_zones o on o.name = w.terms ->> 'zone');

drop function pg_temp.current_windows(jsonb);

-- Of the day, week or month that a moment is in, or of one that many ahead, the second at which it begins. Where the database does not
-- know the zone it is one of UTC: an error would fail every call of whoever has the cap, and without any limit nothing would hold.
create or replace function ledger_calendar_start(p_period text, p_zone text, p_at timestamptz, p_ahead int) returns bigint
language plpgsql stable as $$
declare
  ahead interval := p_ahead * ('1 ' || p_period)::interval;
begin
  return extract(epoch from (date_trunc(p_period, p_at at time zone p_zone) + ahead) at time zone p_zone)::bigint;
exception when invalid_parameter_value then
  return extract(epoch from (date_trunc(p_period, p_at at time zone 'UTC') + ahead) at time zone 'UTC')::bigint;
end $$;

create or replace function ledger_cap_bucket(p_period text, p_seconds int, p_zone text, p_at timestamptz) returns bigint
language sql stable as $$
  select case when p_period = 'rolling'
    then floor(extract(epoch from p_at) / (p_seconds / 60))::bigint * (p_seconds / 60)
    else ledger_calendar_start(p_period, p_zone, p_at, 0) end
$$;

create or replace function ledger_cap_turn(p_cap int, p_period text, p_seconds int, p_zone text, p_bucket bigint, p_short bigint)
returns bigint language sql stable as $$
  select case when p_period = 'rolling'
    then coalesce((select min(s.leaves) from (
        select b.bucket + p_seconds + p_seconds / 60 as leaves, sum(b.amount) over (order by b.bucket) as freed
        from spend_cap_buckets b where b.cap_id = p_cap and b.bucket >= p_bucket - p_seconds) s
      where s.freed >= p_short), p_bucket + p_seconds + p_seconds / 60)
    else ledger_calendar_start(p_period, p_zone, to_timestamp(p_bucket), 1) end
$$;
