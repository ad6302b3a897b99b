import { minus, sum, parsedArguments, type Answer, type Finish, type Usage } from '../answer.ts'
import { refuse, type Json, type Prompt } from '../prompt.ts'
import { json, type Call, type ChatOperation } from '../types.ts'
import { readContents } from './read.ts'
import { signatureOf } from './signatures.ts'

const finishWords: Record<Finish, string> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
}

function usageBody(usage: Usage, choices: number): Json {
  const candidates = minus(usage.completion, usage.reasoning)
  const all = typeof candidates === 'number' ? candidates * choices : candidates
  return {
    promptTokenCount: usage.prompt,
    candidatesTokenCount: all,
    totalTokenCount: sum(usage.prompt, all, usage.reasoning),
    ...(usage.cached === 0 ? {} : { cachedContentTokenCount: usage.cached }),
    ...(usage.reasoning === 0 ? {} : { thoughtsTokenCount: usage.reasoning }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.prompt }],
  }
}

const callParts = (answer: Answer, call: Call): Json[] =>
  answer.toolCalls.map((each, index) => ({
    functionCall: { id: call.nextId('fc_'), name: each.name, args: parsedArguments(each.arguments) },
    ...(index === 0 ? { thoughtSignature: signatureOf(each.name) } : {}),
  }))

const candidate = (index: number, parts: Json[], finish?: string): Json => ({
  content: { parts, role: 'model' },
  ...(finish === undefined ? {} : { finishReason: finish }),
  index,
})

function frames(prompt: Prompt, answer: Answer, call: Call): Json[] {
  const frame = { modelVersion: prompt.model, responseId: call.nextId('resp-') }
  const final = answer.usage ? { usageMetadata: usageBody(answer.usage, prompt.choices) } : {}
  const isOwn = call.directives['usage'] === undefined && typeof answer.usage?.completion === 'number'
  let written = 0
  // Each chunk reports what has been written so far; ordered figures stand in all of them.
  const usageAfter = (parts: Json[], finish: string | undefined): Json => {
    if (!isOwn || finish !== undefined || answer.usage === undefined) return final
    for (const { text } of parts) written += typeof text === 'string' ? text.length : 0
    const completion = Math.ceil(written / 4)
    const reasoning = Math.min(Number(answer.usage.reasoning), completion)
    return { usageMetadata: usageBody({ ...answer.usage, completion, reasoning }, 1) }
  }
  const calls = callParts(answer, call)
  const list: Json[] = []
  for (let index = 0; index < prompt.choices; index += 1) {
    const add = (parts: Json[], finish?: string) =>
      list.push({ candidates: [candidate(index, parts, finish)], ...usageAfter(parts, finish), ...frame })
    for (const text of answer.reasoning) add([{ text, thought: true }])
    for (const text of answer.text) add([{ text }])
    if (calls.length > 0) add(calls)
    add([{ text: '' }], finishWords[answer.finish])
  }
  return list
}

function unstreamed(prompt: Prompt, answer: Answer, call: Call): Json {
  const parts: Json[] = []
  if (answer.reasoning.length > 0) parts.push({ text: answer.reasoning.join(''), thought: true })
  if (answer.text.length > 0) parts.push({ text: answer.text.join('') })
  parts.push(...callParts(answer, call))
  return {
    candidates: Array.from({ length: prompt.choices }, (_, index) =>
      candidate(index, parts, finishWords[answer.finish]),
    ),
    ...(answer.usage ? { usageMetadata: usageBody(answer.usage, prompt.choices) } : {}),
    modelVersion: prompt.model,
    responseId: call.nextId('resp-'),
  }
}

export const generateContent: ChatOperation = {
  type: 'chat',
  read: readContents,
  write: (prompt, answer, call) => {
    if (!prompt.stream) return json(unstreamed(prompt, answer, call))
    const events = frames(prompt, answer, call).map((frame) => ({ data: JSON.stringify(frame) }))
    return { type: 'stream', events, array: call.query.get('alt') !== 'sse' }
  },
}

export const countTokens: ChatOperation = {
  type: 'chat',
  read: (call) => {
    const { generateContentRequest: inner, ...fields } = call.body
    if (inner === undefined) {
      // Google's own host knows instructions and tools within a whole call only; Vertex takes them beside the contents.
      const unknown = Object.keys(fields).find((name) => name !== 'contents')
      if (unknown !== undefined && !call.path.includes('/projects/'))
        refuse(`Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`)
      return { ...readContents(call), stream: false }
    }
    const { model: _, ...body } = inner as Json
    return { ...readContents({ ...call, body }), stream: false }
  },
  write: (_prompt, answer) => {
    const totalTokens = answer.usage?.prompt ?? 0
    return json({ totalTokens, promptTokensDetails: [{ modality: 'TEXT', tokenCount: totalTokens }] })
  },
}
