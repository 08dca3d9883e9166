create table messages (
  id integer primary key,
  chat text not null,
  question boolean not null,
  text text not null
);

create index messages_of_chat on messages (chat, id);
