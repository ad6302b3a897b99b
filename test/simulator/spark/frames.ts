import { sum, type Answer } from '../answer.ts'
import { checkFields } from '../fields.ts'
import { textOfContent } from '../openai/read-messages.ts'
import {
  asNumber,
  asObject,
  asObjects,
  asText,
  charactersOf,
  type Failure,
  type Json,
  type Prompt,
  refuse,
} from '../prompt.ts'
import type { StreamEvent } from '../types.ts'

export const appId = 'simulated-app'

const limits = (name: string, value: unknown, [least, most]: [number, number]): void => {
  const number = asNumber(value)
  if (number !== undefined && (number < least || number > most)) refuse(`${name} is out of range`)
}

/** Instructions are understood by the domains from 3.5 on. */
const instructed = new Set(['generalv3.5', '4.0Ultra', 'max-32k'])

export function readFrame(frame: Json): Prompt {
  checkFields(frame, ['header', 'parameter', 'payload'])
  const [header, payload] = [asObject(frame['header']), asObject(frame['payload'])]
  checkFields(header, ['app_id', 'uid'], 'header.')
  if (header['app_id'] !== appId) refuse('the app_id is not the one of the key')
  const settings = asObject(asObject(frame['parameter'])['chat'])
  checkFields(settings, ['domain', 'temperature', 'top_k', 'max_tokens', 'auditing'], 'parameter.chat.')
  limits('temperature', settings['temperature'], [Number.MIN_VALUE, 1])
  limits('top_k', settings['top_k'], [1, 6])
  const messages = asObjects(asObject(payload['message'])['text'])
  if (messages.at(-1)?.['role'] !== 'user') refuse('the last message must be of role user')
  const domain = asText(settings['domain'])
  for (const message of messages) {
    checkFields(message, ['role', 'content'], 'payload.message.text.')
    if (typeof message['content'] !== 'string') refuse('content must be text')
    if (message['role'] === 'system' && !instructed.has(domain)) refuse('the role system is not known')
  }
  const tools = asObjects(asObject(payload['functions'])['text'])
  return {
    model: domain,
    stream: true,
    text: textOfContent(messages.at(-1)?.['content']),
    media: [],
    system: messages
      .filter((message) => message['role'] === 'system')
      .map((message) => textOfContent(message['content']))
      .join('\n'),
    toolResults: [],
    tools: tools.map((tool) => ({ name: asText(tool['name']), schema: asObject(tool['parameters']) })),
    toolChoice: { mode: 'auto' },
    thinking: false,
    json: undefined,
    maxTokens: asNumber(settings['max_tokens']),
    stop: [],
    choices: 1,
    characters: charactersOf(messages) + charactersOf(tools),
  }
}

const codes: Record<number, number> = { 400: 10163, 403: 11200, 429: 11202 }

export const failureFrame = ({ status, code, message }: Failure): StreamEvent => ({
  data: JSON.stringify({ header: { code: Number(code ?? codes[status] ?? 10012), message, sid: 'sim', status: 2 } }),
})

/** The frames of an answer; the figures are in the last one. */
export function framesOf(answer: Answer, sid: string): StreamEvent[] {
  const texts: Json[] = [
    ...answer.text.map((content) => ({ content })),
    ...answer.toolCalls.map((call) => ({ content: '', content_type: 'text', function_call: call })),
  ]
  if (texts.length < 2) texts.push({ content: '' })
  return texts.map((text, seq) => {
    const status = seq === texts.length - 1 ? 2 : seq === 0 ? 0 : 1
    const { usage } = answer
    const counted = usage && {
      question_tokens: 1,
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: sum(usage.prompt, usage.completion),
    }
    const payload = {
      choices: { status, seq, text: [{ role: 'assistant', index: 0, ...text }] },
      ...(status === 2 && counted ? { usage: { text: counted } } : {}),
    }
    return { data: JSON.stringify({ header: { code: 0, message: 'Success', sid, status }, payload }) }
  })
}
