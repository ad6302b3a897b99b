import { has, numberOf, type Directives } from './directives.ts'
import type { Prompt } from './prompt.ts'
import { sampleValue } from './sample.ts'

type ToolCall = { name: string; arguments: string }
export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter'

/** Figures are `unknown` because a directive may make them anything. */
export type Usage = {
  prompt: unknown
  completion: unknown
  cached: unknown
  cacheWrite: unknown
  reasoning: unknown
}

export type Answer = {
  /** Texts in the pieces a stream sends them in. */
  reasoning: string[]
  text: string[]
  toolCalls: ToolCall[]
  finish: Finish
  stopSequence: string | null
  /** Absent when the directive `nousage` is given. */
  usage: Usage | undefined
}

export const countTokens = (characters: number) => Math.ceil(characters / 4)

/** Every word with the blanks behind it, so that joined pieces give the text again. */
const pieces = (text: string) => text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? []

function repeatWords(text: string, count: number): string[] {
  const words = text.split(/\s+/).filter(Boolean)
  return Array.from(
    { length: count },
    (_, index) => `${index === 0 ? '' : ' '}${words[index % words.length] ?? 'word'}`,
  )
}

function plainText(prompt: Prompt): string {
  if (prompt.toolResults.length > 0) return `The tool says: ${prompt.toolResults.join(' | ')}`
  if (prompt.json) {
    const sample = prompt.json['properties']
      ? sampleValue(prompt.json, prompt.text)
      : { answer: `You said: ${prompt.text}` }
    return JSON.stringify(sample)
  }
  const reply = prompt.text.includes('system?') ? `System: ${prompt.system || '(none)'}` : `You said: ${prompt.text}`
  return [...prompt.media, reply].join(' ')
}

/** What a result says where the model is to call once more. */
export const goOn = '(go on)'

function toolCallsOf(prompt: Prompt, directives: Directives): ToolCall[] {
  const isDone = prompt.toolResults.length > 0 && !prompt.toolResults.some((text) => text.includes(goOn))
  if (isDone || prompt.toolChoice.mode === 'none') return []
  const byName = (name: string) => prompt.tools.find((tool) => tool.name === name) ?? { name, schema: {} }
  const mentioned = prompt.tools.filter((tool) => prompt.text.toLowerCase().includes(tool.name.toLowerCase()))
  const first = prompt.tools[0]
  const count = numberOf(directives, 'calls')
  const called = directives['tool']
    ? directives['tool'].split('+').map(byName)
    : count !== undefined
      ? prompt.tools.slice(0, count)
      : prompt.toolChoice.name
        ? [byName(prompt.toolChoice.name)]
        : mentioned.length > 0
          ? mentioned
          : prompt.toolChoice.mode === 'required' && first
            ? [first]
            : []
  const given = directives['args']
  return called.map(({ name, schema }) => ({
    name,
    arguments:
      given === undefined
        ? JSON.stringify(sampleValue({ type: 'object', ...schema }, prompt.text))
        : given === 'empty'
          ? ''
          : given === 'broken'
            ? '{"city": "Par'
            : given,
  }))
}

function textOf(
  prompt: Prompt,
  directives: Directives,
  room: number | undefined,
): Pick<Answer, 'text' | 'finish' | 'stopSequence'> {
  if (has(directives, 'blank')) return { text: [], finish: 'stop', stopSequence: null }
  const wanted = numberOf(directives, 'events') ?? numberOf(directives, 'words')
  const fullText = plainText(prompt)
  const filler = numberOf(directives, 'big')
  const text = wanted === undefined ? pieces(fullText) : repeatWords(fullText, wanted)
  if (filler) text.push(` ${'x'.repeat(filler)}`)
  if (has(directives, 'limited')) return withinLimit(text, room)
  if (wanted !== undefined || filler) return { text, finish: 'stop', stopSequence: null }

  const stops = prompt.stop.filter((stop) => stop !== '' && fullText.includes(stop))
  const stop = stops.toSorted((a, b) => fullText.indexOf(a) - fullText.indexOf(b))[0]
  const stopped = stop === undefined ? text : pieces(fullText.slice(0, fullText.indexOf(stop)))
  const cut = withinLimit(stopped, room)
  return cut.finish === 'length' ? cut : { ...cut, stopSequence: stop ?? null }
}

/** As much as there is room for, in tokens. */
function withinLimit(text: string[], room: number | undefined): Pick<Answer, 'text' | 'finish' | 'stopSequence'> {
  let characters = 0
  const short = text.filter((piece) => {
    characters += piece.length
    return room === undefined || countTokens(characters) <= room
  })
  return { text: short, finish: short.length < text.length ? 'length' : 'stop', stopSequence: null }
}

/** `12` is a number, `"12"` a string, `null` null, anything else that is no number a string. */
function figure(text: string): unknown {
  if (text === 'null') return null
  const quoted = /^["'](.*)["']$/.exec(text)
  if (quoted) return quoted[1]
  return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
}

function usageOf(prompt: Prompt, answer: Omit<Answer, 'usage'>, directives: Directives): Usage | undefined {
  if (has(directives, 'nousage')) return undefined
  const length = (texts: string[]) => texts.reduce((sum, text) => sum + text.length, 0)
  const called = answer.toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0)
  const reasoning = countTokens(length(answer.reasoning))
  const counted: Usage = {
    prompt: 4 + countTokens(prompt.characters),
    completion: reasoning + countTokens(length(answer.text) + called),
    cached: 0,
    cacheWrite: 0,
    reasoning,
  }
  const given = directives['usage']?.split(':') ?? []
  const names = ['prompt', 'completion', 'cached', 'cacheWrite', 'reasoning'] as const
  names.forEach((name, index) => {
    const text = given[index]
    if (text !== undefined && text !== '') counted[name] = figure(text)
  })
  return counted
}

const isFinish = (text: string | undefined): text is Finish =>
  text === 'stop' || text === 'length' || text === 'tool-calls' || text === 'content-filter'

/** The answer to a prompt: the same for the same prompt and directives. */
export function answerOf(prompt: Prompt, directives: Directives): Answer {
  const reasoningWords = numberOf(directives, 'thinking') ?? (prompt.thinking ? 0 : undefined)
  const thought = `Thinking about: ${prompt.text}`
  const ordered =
    reasoningWords === undefined ? [] : reasoningWords === 0 ? pieces(thought) : repeatWords(thought, reasoningWords)
  const limit = has(directives, 'limited') ? prompt.maxTokens : undefined
  const reasoning = withinLimit(ordered, limit).text
  const room = limit === undefined ? prompt.maxTokens : limit - countTokens(reasoning.join('').length)
  const toolCalls = toolCallsOf(prompt, directives)
  const reply = toolCalls.length > 0 ? { text: [], stopSequence: null } : textOf(prompt, directives, room)
  const natural = 'finish' in reply ? reply.finish : 'tool-calls'
  const finish = isFinish(directives['finish']) ? directives['finish'] : natural
  const answer = { reasoning, toolCalls, text: reply.text, stopSequence: reply.stopSequence, finish }
  return { ...answer, usage: usageOf(prompt, answer, directives) }
}

export const sum = (...values: unknown[]) =>
  values.reduce<number>((total, value) => total + (typeof value === 'number' ? value : 0), 0)

/** `whole - parts`, but an impossible figure is passed on as it was ordered. */
export const minus = (fullText: unknown, ...parts: unknown[]) =>
  typeof fullText === 'number' && fullText >= sum(...parts) ? fullText - sum(...parts) : fullText

/** A call's arguments for the vendors that send them as an object. */
export function parsedArguments(text: string): unknown {
  try {
    return JSON.parse(text || '{}')
  } catch {
    return {}
  }
}
