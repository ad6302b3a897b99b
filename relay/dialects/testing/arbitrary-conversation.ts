import fc from 'fast-check'
import type {
  AssistantPart,
  DialectId,
  FunctionTool,
  Message,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '#relay/chat/request.ts'
import { defined } from '../read.ts'
import { anyText } from './arbitrary-events.ts'

const name = fc.stringMatching(/^[a-z_]{1,12}$/)
const text = anyText.map((content) => ({ type: 'text' as const, text: content }))
const image = fc.base64String({ minLength: 4 }).map((data): UserPart => ({
  type: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data },
}))

const jsonObject = fc
  .dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)))
  .map((value) => JSON.stringify(JSON.parse(JSON.stringify(value))))

/** How much of reasoning a dialect can carry back and forth. */
const reasoning = (signer: DialectId | undefined): fc.Arbitrary<AssistantPart[]> => {
  if (signer === undefined) return fc.constant([])
  const proof = anyText.map((value) => ({ dialect: signer, value }))
  const part = fc.record({ content: anyText, signature: proof })
  return fc.array(
    part.map(({ content, signature }): AssistantPart => ({ type: 'reasoning', text: content, signature })),
    { maxLength: 2 },
  )
}

type Turn = {
  content: UserPart[]
  reasoning: AssistantPart[]
  answer: AssistantPart[]
  calls: { called: string; args: string; result: string }[]
}

const turn = (signer: DialectId | undefined): fc.Arbitrary<Turn> =>
  fc.record({
    content: fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 3 }),
    reasoning: reasoning(signer),
    answer: fc.array(text, { minLength: 1, maxLength: 1 }),
    calls: fc.array(fc.record({ called: name, args: jsonObject, result: anyText }), { maxLength: 3 }),
  })

/** Conversations that every dialect can express: users speak and show, models think, answer and call, tools answer. */
export const anyConversation = (signer: DialectId | undefined): fc.Arbitrary<Message[]> =>
  fc
    .record({ system: fc.option(text), turns: fc.array(turn(signer), { minLength: 1, maxLength: 4 }) })
    .map(({ system, turns }) => {
      const messages: Message[] = system === null ? [] : [{ role: 'system', content: [system] }]
      let results: ToolResultPart[] = []
      turns.forEach(({ content, reasoning, answer, calls }, index) => {
        messages.push({ role: 'user', content: [...results, ...content] })
        const made = calls.map(({ called, args, result }, position) => {
          const id = `call_${index}_${position}`
          const call: ToolCallPart = { type: 'tool-call', id, name: called, arguments: args }
          const answered: ToolResultPart = {
            type: 'tool-result',
            callId: id,
            name: called,
            content: [{ type: 'text', text: result }],
          }
          return { call, answered }
        })
        results = made.map(({ answered }) => answered)
        messages.push({ role: 'assistant', content: [...reasoning, ...answer, ...made.map(({ call }) => call)] })
      })
      return results.length === 0 ? messages : [...messages, { role: 'user', content: results }]
    })

export const anyTool: fc.Arbitrary<FunctionTool> = fc
  .record({ called: name, description: fc.option(anyText, { nil: undefined }), property: name })
  .map(({ called, description, property }) =>
    defined({
      type: 'function',
      name: called,
      description,
      parameters: { type: 'object', properties: { [property]: { type: 'string' } }, required: [property] },
    }),
  )

export const anySettings = fc.record(
  {
    maxTokens: fc.integer({ min: 1, max: 1000 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    topP: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { requiredKeys: [] },
)
