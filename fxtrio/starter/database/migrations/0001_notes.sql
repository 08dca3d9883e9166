-- The notes of the start page. To begin with tables of your own, delete this file, pages/index.fxl,
-- tests/test_notes.py and data/app.db, and run `fx db new NAME`.
create table notes (id integer primary key, text text not null, written text not null);
