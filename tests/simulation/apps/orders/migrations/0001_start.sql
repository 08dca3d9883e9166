create table deliveries (id integer primary key, ticket text not null);
create table once (id integer primary key, ticket text not null);
create table attempts (id integer primary key, ticket text not null);
create table ticks (id integer primary key, minute integer not null);
