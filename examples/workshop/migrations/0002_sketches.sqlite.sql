create table sketches (
  booking text not null primary key references bookings (id) on delete cascade,
  type text not null,
  content blob not null
);
