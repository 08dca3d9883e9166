"""What a shared broker keeps in PostgreSQL: three tables, and the two functions that fill logs.

Unlogged: after a crash of the server they are empty, which costs presence nothing and
messages no more than a restart. A place is the time in microseconds, so that one that was
used before a crash is not used again.
"""

from __future__ import annotations

SETUP = """
begin;
select pg_advisory_xact_lock(7307, 1);
create unlogged table if not exists fx_messages (
    channel text not null, id bigint not null, data bytea not null,
    at timestamptz not null default clock_timestamp(), primary key (channel, id));
create index if not exists fx_messages_at on fx_messages (at);
create unlogged table if not exists fx_members (
    channel text not null, id text not null, packed bytea not null,
    at timestamptz not null default clock_timestamp(), primary key (channel, id));
create unlogged table if not exists fx_processes (
    epoch text primary key, machine text not null,
    at timestamptz not null default clock_timestamp());

create or replace function fx_place(wanted text, message bytea) returns bigint
language plpgsql as $$
declare
    place bigint;
begin
    perform pg_advisory_xact_lock(hashtextextended(wanted, 7307));
    select max(id) into place from fx_messages where channel = wanted;
    if place is not null and message is null then
        return place;
    end if;
    place := greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, place + 1);
    insert into fx_messages (channel, id, data) values (wanted, place, coalesce(message, ''));
    return place;
end $$;

create or replace function fx_begin(wanted text) returns bigint
language sql as $$ select fx_place(wanted, null) $$;

create or replace function fx_publish(wanted text, message bytea, told text, history int)
returns void
language plpgsql as $$
declare
    place bigint := fx_place(wanted, message);
begin
    perform pg_notify('fx_' || wanted, place || ' ' || told);
    if random() < 0.02 then
        delete from fx_messages where channel = wanted and id < (
            select id from fx_messages where channel = wanted
            order by id desc offset greatest(history - 1, 0) limit 1);
    end if;
end $$;
commit;
"""
"""May be run by several processes at once, and again and again."""
