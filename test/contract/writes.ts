import type { App } from '#test/support/app.ts'

/** Places that are written to whatever comes of a call: when a session was last used, how often a code was tried, that a node lives. */
const notedInPassing = ['sessions', 'notification_counts', 'oauth_states', 'sign_in_challenges', 'nodes', 'job_runs']

/** Keeps a list of what is written to any table. A statement that is undone leaves nothing on it. */
export async function recordWrites(app: App) {
  await app.pool.query(`
    create table written (place text not null, act text not null);
    create function note_write() returns trigger language plpgsql as
      $$ begin insert into written values (tg_table_name, tg_op); return null; end $$;
    do $$ declare t text; begin
      for t in select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace
        and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'written'
      loop execute format('create trigger note_write after insert or update or delete on %I for each row execute function note_write()', t);
      end loop; end $$`)
  return {
    /** What was written since the last look. */
    take: async (): Promise<string[]> => {
      const { rows } = await app.pool.query<{ place: string; act: string }>(
        'with taken as (delete from written returning place, act) select distinct place, act from taken',
      )
      return rows.filter(({ place }) => !notedInPassing.includes(place)).map(({ place, act }) => `${act} ${place}`)
    },
  }
}
