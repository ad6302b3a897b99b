-- The dashboard names the models that cost most in a range and shows the hours of each: the first is read from this index alone, the
-- second from its stretch of ten models.
create index "usage_by_hour_model_name_hour_index" on "usage_by_hour" ("model_name", "hour") include ("quota", "count");
