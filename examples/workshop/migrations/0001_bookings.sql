-- A row is a hold, or a booking once it is confirmed. The key keeps two from having one slot.
create table bookings (
  bench text not null,
  hour text not null,
  id text not null unique,
  user_id text not null,
  who text not null,
  held_until double precision not null,
  confirmed integer not null default 0,
  note text not null default '',
  primary key (bench, hour)
);

create index bookings_of_user on bookings (user_id, hour);

create table reminders (
  booking text not null primary key references bookings (id) on delete cascade,
  sent double precision not null
);
