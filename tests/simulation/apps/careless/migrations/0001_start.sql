create table bookings (id integer primary key, slot integer not null, who text not null);
create table mails (id integer primary key, receiver text not null);
