import type { ChatChoice, ChatResponse, ResponsePart } from '#relay/chat/events.ts'
import type { EncodeContext } from '../types.ts'
import { calledAs } from './agent-tools.ts'
import { callItem, imageItem, messageItem, outputText, reasoningItem } from './output-items.ts'
import { finishedResponse, outcomeOf, responseHead, toFlatAnnotation } from './response-object.ts'

/** Hub answer → response object. Further choices have no place in this dialect. */
export function encodeOpenAiResponses(response: ChatResponse, context: EncodeContext): unknown {
  const choice: ChatChoice = response.choices[0] ?? { parts: [], finish: 'stop' }
  const answer = { reason: choice.finish, output: toOutput(choice, context), usage: response.usage }
  return finishedResponse(responseHead(response.id, context), answer, context)
}

type MessageContent = { type: 'message-content'; content: object[] }

/** What is said without interruption is one message. */
function groupContent(parts: ResponsePart[]): (MessageContent | ResponsePart)[] {
  const groups: (MessageContent | ResponsePart)[] = []
  for (const part of parts) {
    const content = toContent(part)
    const last = groups.at(-1)
    if (content === undefined) groups.push(part)
    else if (last?.type === 'message-content') last.content.push(...content)
    else if (content.length > 0) groups.push({ type: 'message-content', content })
  }
  return groups
}

function toContent(part: ResponsePart): object[] | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [outputText(part.text, part.citations?.map(toFlatAnnotation))]
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'refusal', refusal: part.text }]
    case 'audio':
      return part.transcript === '' ? [] : [outputText(part.transcript)]
    default:
      return undefined
  }
}

function toOutput(choice: ChatChoice, { ambient, sentBody = {} }: EncodeContext): object[] {
  const names = calledAs(sentBody)
  const cut = outcomeOf(choice.finish).status === 'incomplete'
  return groupContent(choice.parts).flatMap((group, index, groups): object[] => {
    const id = (prefix: string) => `${prefix}_${ambient.newId(24)}`
    switch (group.type) {
      case 'message-content':
        // Only what was said last can have been cut off.
        return [messageItem(id('msg'), group.content, cut && index === groups.length - 1 ? 'incomplete' : 'completed')]
      case 'reasoning': {
        const own = group.encrypted?.dialect === 'openai-responses' ? group.encrypted.data : undefined
        if (group.text === '' && own === undefined) return []
        return [reasoningItem(id('rs'), { text: group.text, encrypted: own }, 'completed')]
      }
      case 'tool-call': {
        const custom = group.kind === 'custom'
        const as = names.get(group.name)
        const call = { callId: group.id, name: group.name, custom, text: group.arguments, as }
        return [callItem(id(custom ? 'ctc' : 'fc'), call, 'completed')]
      }
      case 'image':
        return [imageItem(id('ig'), group.data, 'completed')]
      default:
        return []
    }
  })
}
