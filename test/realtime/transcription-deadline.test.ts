import { expect, test } from 'vitest'
import { append, speech, startTranscriptions } from './transcriptions.ts'
import { chargesOf, errorOf } from './world.ts'

const { app, transcribe, user } = await startTranscriptions({ BODY_IDLE_SECONDS: '1' })

test('a session that does not name its model in time ends with an error event, and asks no upstream', async () => {
  const session = await transcribe()
  append(session, speech(1))
  expect(errorOf(await session.next('error'))).toMatchObject({ code: 'missing_model' })
  expect((await session.closed).code).toBe(1008)
  expect(app.upstream.requests).toEqual([])
  expect(await chargesOf(app, user.id)).toEqual([])
})
