create table counter (id integer primary key, value integer not null);
insert into counter (id, value) values (1, 0);
