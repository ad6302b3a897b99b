-- The number of unread messages is asked for every half minute by every open page.
create index "message_recipients_user_id_read_at_index" on "message_recipients" ("user_id", "read_at");
create index "messages_created_at_index" on "messages" ("created_at");
