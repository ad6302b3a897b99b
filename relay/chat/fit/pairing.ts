import type { AssistantPart, ChatRequest, Message, ToolCallPart, ToolResultPart, UserPart } from '../request.ts'

type AssistantMessage = Extract<Message, { role: 'assistant' }>
type UserMessage = Extract<Message, { role: 'user' }>

const isCall = (part: AssistantPart): part is ToolCallPart => part.type === 'tool-call'
const isResult = (part: UserPart): part is ToolResultPart => part.type === 'tool-result'

const resultsOf = (message: Message | undefined): ToolResultPart[] =>
  message?.role === 'user' ? message.content.filter(isResult) : []

/** Every call has an id of its own and its result in the message right behind it, and no result stands elsewhere. */
function isPaired(messages: readonly Message[]): boolean {
  const seen = new Set<string>()
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'user' && open.size > 0) return false
    if (message.role === 'assistant') {
      for (const part of message.content) {
        if (!isCall(part)) continue
        if (part.id === '' || seen.has(part.id)) return false
        seen.add(part.id)
        open.add(part.id)
      }
    } else if (message.role === 'user') {
      for (const part of message.content) if (isResult(part) && !open.delete(part.callId)) return false
      if (open.size > 0) return false
    }
  }
  return open.size === 0
}

/** Results of the whole conversation, each waiting for its call; under one id the first stands last, to be taken from there. */
function gatherResults(messages: readonly Message[]): Map<string, ToolResultPart[]> {
  const waiting = new Map<string, ToolResultPart[]>()
  for (const result of messages.flatMap(resultsOf).toReversed()) {
    const known = waiting.get(result.callId)
    if (known) known.push(result)
    else waiting.set(result.callId, [result])
  }
  return waiting
}

const noResult = (call: ToolCallPart): ToolResultPart => ({
  type: 'tool-result',
  callId: call.id,
  name: call.name,
  content: [{ type: 'text', text: 'No result was given.' }],
  isError: true,
})

/** Answers of the model that follow each other with a call among them are one. */
function joined(messages: readonly Message[]): Message[] {
  const list: Message[] = []
  // The copy that the next answer may be appended to; there is a call in it.
  let copy: AssistantMessage | undefined
  for (const message of messages) {
    const last = list.at(-1)
    if (message.role !== 'assistant' || last?.role !== 'assistant') list.push(message)
    else if (last === copy) for (const part of message.content) copy.content.push(part)
    else if (last.content.some(isCall) || message.content.some(isCall)) {
      copy = { ...last, content: [...last.content, ...message.content] }
      list[list.length - 1] = copy
    } else list.push(message)
  }
  return list
}

/** Ids that calls have, and for those given more than once the next number to try. */
type Ids = { used: Set<string>; next: Map<string, number> }

/** The call under an id that no other call has; later ones of the same id are numbered. */
function withOwnId(call: ToolCallPart, { used, next }: Ids, place: string): ToolCallPart {
  const given = call.id === '' ? `call_${place}` : call.id
  let id = given
  for (let number = next.get(given) ?? 2; used.has(id); number += 1) {
    id = `${given}_${number}`
    next.set(given, number + 1)
  }
  used.add(id)
  return id === call.id ? call : { ...call, id }
}

type Repaired = { messages: Message[]; lost: boolean }

function repaired(given: readonly Message[]): Repaired {
  const waiting = gatherResults(given)
  const ids: Ids = { used: new Set(), next: new Map() }
  const list: Message[] = []
  // Behind an answer with calls: the message of its results, which the user's own words may join.
  let behind: UserMessage | undefined
  const messages = joined(given)
  for (const [turn, message] of messages.entries()) {
    if (message.role === 'user') {
      const own = message.content.filter((part) => !isResult(part))
      const bare = own.length === 0 && message.content.length > 0
      if (behind) {
        for (const part of own) behind.content.push(part)
        if (message.name !== undefined) behind.name = message.name
      } else if (!bare) list.push({ ...message, content: own })
      behind = undefined
      continue
    }
    behind = undefined
    if (message.role === 'system') {
      list.push(message)
      continue
    }
    const answers: ToolResultPart[] = []
    const content = message.content.map((part, index): AssistantPart => {
      if (!isCall(part)) return part
      const call = withOwnId(part, ids, `${turn}_${index}`)
      const result = waiting.get(part.id)?.pop()
      answers.push(result ? { ...result, callId: call.id, name: call.name } : noResult(call))
      return call
    })
    list.push({ ...message, content } satisfies AssistantMessage)
    if (answers.length === 0) continue
    behind = { role: 'user', content: answers }
    list.push(behind)
  }
  const lost = [...waiting.values()].some((results) => results.length > 0)
  return { messages: list, lost }
}

const filler: Message = { role: 'user', content: [{ type: 'text', text: '...' }] }

/**
 * What the user says where nobody has said anything. A caller may put all they want into the instructions; `messages` are the
 * caller's own, for what a channel instructs is no question.
 */
function wordsFor(messages: readonly Message[]): Message {
  const instructions = messages.flatMap((message) => (message.role === 'system' ? message.content : []))
  const texts = instructions.map(({ text }) => text).filter((text) => text.trim() !== '')
  if (texts.length === 0 || messages.some(({ role }) => role !== 'system')) return filler
  return { role: 'user', content: [{ type: 'text', text: texts.join('\n\n') }] }
}

/** No target takes a conversation of instructions and empty turns alone, or of reasoning that another vendor's model had. */
const saysSomething = (messages: readonly Message[]): boolean =>
  messages.some(
    ({ role, content }) =>
      role !== 'system' &&
      content.some((part) => part.type !== 'reasoning' && (part.type !== 'text' || part.text.trim() !== '')),
  )

/** Calls that the upstream keeps from an earlier answer, whose results stand here alone. */
const continues = ({ extra: { dialect, fields }, messages }: ChatRequest): boolean =>
  (dialect === 'openai-responses' &&
    ['previous_response_id', 'conversation', 'prompt'].some((name) => (fields[name] ?? null) !== null)) ||
  messages.some(({ content }) =>
    content.some(
      (part) => part.type === 'vendor' && (Object(part.value) as { type?: unknown }).type === 'item_reference',
    ),
  )

/**
 * A conversation whose calls and results stand as every target wants them: each call answered in the message right behind it, by
 * its own id, and no result without its call. The very same messages where they stand so already.
 */
export function pairResults(request: ChatRequest, own: readonly Message[]): Repaired {
  const stays = isPaired(request.messages) || continues(request)
  const { messages, lost } = stays ? { messages: request.messages, lost: false } : repaired(request.messages)
  return { messages: saysSomething(messages) ? messages : [...messages, wordsFor(own)], lost }
}
