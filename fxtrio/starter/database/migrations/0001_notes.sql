create table notes (id integer primary key, text text not null, written text not null);

insert into notes (text, written)
values ('A page is one file: Python loads and changes data, React shows it.', '2026-01-01T12:00:00Z');
