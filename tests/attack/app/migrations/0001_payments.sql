create table payments (number text primary key, code text not null);
