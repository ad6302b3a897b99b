import { hostedMessages } from '../anthropic/hosted.ts'
import { generateContent } from '../gemini/generate.ts'
import { asObject, asObjects, refuse, Refusal, type Json } from '../prompt.ts'
import type { ChatOperation } from '../types.ts'
import { project } from './account.ts'

const publisher = (name: string, verbs: string) =>
  new RegExp(`^/v1/projects/([^/]+)/locations/([a-z0-9-]+)/publishers/${name}/models/([^/:]+):(${verbs})$`)

export const generatePattern = publisher('google', 'generateContent|streamGenerateContent')
export const predictPattern = publisher('anthropic', 'rawPredict|streamRawPredict')

function checkProject(path: string): void {
  const named = /\/projects\/([^/]+)\//.exec(path)?.[1]
  if (named !== project) throw new Refusal({ status: 403, message: `Permission denied on resource project ${named}.` })
}

/** Ids of calls are a name that this host does not know, for models before the third generation. */
function checkIds(contents: unknown): void {
  for (const content of asObjects(contents))
    for (const part of asObjects(content['parts']))
      for (const name of ['functionCall', 'functionResponse'])
        if (asObject(part[name])['id'] !== undefined)
          refuse(`Invalid JSON payload received. Unknown name "id" at 'contents.parts.${name}': Cannot find field.`)
}

const withoutIds = (body: Json): Json =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      name === 'functionCall' ? { ...asObject(value), id: undefined } : value,
    ),
  ) as Json

export const generate: ChatOperation = {
  type: 'chat',
  read: (call) => {
    checkProject(call.path)
    if (/\/models\/gemini-[12]/.test(call.path)) checkIds(call.body['contents'])
    return generateContent.read(call)
  },
  write: (prompt, answer, call) => {
    const reply = generateContent.write(prompt, answer, call)
    if (reply.type === 'json') return { ...reply, body: withoutIds(asObject(reply.body)) }
    if (reply.type !== 'stream') return reply
    const events = reply.events.map((event) => ({
      ...event,
      data: JSON.stringify(withoutIds(JSON.parse(event.data) as Json)),
    }))
    return { ...reply, events }
  },
}

const messages = hostedMessages({
  versions: ['vertex-2023-10-16', '2026-10-21'],
  modelOf: (path) => decodeURIComponent(predictPattern.exec(path)?.[3] ?? ''),
  isModel: (id) => /^claude-[a-z0-9-]+(@\d{8})?$/.test(id) && !/-\d{8}$/.test(id),
  streams: () => undefined,
})

export const predict: ChatOperation = {
  ...messages,
  read: (call) => {
    checkProject(call.path)
    const prompt = messages.read(call)
    if (prompt.stream !== call.path.endsWith(':streamRawPredict')) refuse('stream: must agree with the method')
    return prompt
  },
}
