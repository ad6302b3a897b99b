import { startScriptedUpstream } from './scripted-upstream.ts'
import { model, startRealtime } from './world.ts'

export type Event = Record<string, unknown>
/** The upstream of one session; `asked`: how many responses it was asked for. */
export type Upstream = { say: (...events: Event[]) => void; asked: number }

/** Models of the scripted upstream: an output token costs four of the input, and one price each call. */
export const named = 'realtime-scripted'
export const perCall = 'realtime-per-call'

/** An app whose sessions are served by a scripted upstream, which hands over each event that it receives, and its text. */
export async function startScriptedResponses(receive: (upstream: Upstream, event: Event, text: string) => void) {
  const { baseUrl, sessions } = await startScriptedUpstream((socket) => {
    const upstream: Upstream = {
      say: (...events) => {
        for (const event of events) socket.send(JSON.stringify(event))
      },
      asked: 0,
    }
    upstream.say({ type: 'session.created', session: { id: 's', output_modalities: ['text'] } })
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as Event
      if (event['type'] === 'response.create') upstream.asked += 1
      receive(upstream, event, data.toString())
    })
  })
  const { app, openSession } = await startRealtime()
  await app.make.channel({
    models: `${named},${perCall}`,
    baseUrl,
    modelMapping: JSON.stringify({ [named]: model }),
  })
  await app.make.option('ModelRatio', JSON.stringify({ [named]: 1, [model]: 1 }))
  await app.make.option('ModelPrice', JSON.stringify({ [perCall]: 0.01 }))
  await app.services.options.reload()
  await app.settled()
  return { app, openSession, sessions }
}

export const created = (id: number): Event => ({ type: 'response.created', response: { id: `r${id}` } })

export const word = (id: number): Event => ({
  type: 'response.output_text.delta',
  response_id: `r${id}`,
  delta: ' word',
})

export const done = (id: number, [input, output]: [number, number], more: Event = {}): Event => ({
  type: 'response.done',
  response: { id: `r${id}`, status: 'completed', usage: { input_tokens: input, output_tokens: output }, ...more },
})
