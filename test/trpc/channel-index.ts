import { expect } from 'vitest'
import type { ConsoleApp } from '#test/support/console-app.ts'

const indexColumns = '"group", model, channel_id, enabled, priority, weight, tag'

/** The index is what follows from the channels' own rows: nothing is missing, nothing is left over. */
export const expectIndexInOrder = async (app: ConsoleApp): Promise<void> =>
  expect(
    await app.sql(
      `with wanted as (
         select g as "group", m as model, c.id as channel_id, c.status = 1 as enabled, c.priority, c.weight, c.tag
         from channels c, unnest(string_to_array(c."group", ',')) g, unnest(string_to_array(c.models, ',')) m
       )
       (select ${indexColumns} from wanted except select ${indexColumns} from abilities)
       union all (select ${indexColumns} from abilities except select ${indexColumns} from wanted)`,
    ),
  ).toEqual([])
