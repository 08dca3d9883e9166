create table notes (id integer primary key, text text not null, written text not null);
