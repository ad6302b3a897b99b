import type { ChatChoice, ChatResponse, ResponsePart } from '#relay/chat/events.ts'
import type { EncodeContext } from '../types.ts'
import { shifted } from '#relay/chat/citations.ts'
import { asksForCompaction, compactionItem, summaryIn } from './compaction.ts'
import { calledAs } from './agent-tools.ts'
import { remoteCallItem, searchItem } from '#relay/chat/hosted/response-items.ts'
import { callItem, callStatus, imageItem, messageItem, outputText, reasoningItem } from './output-items.ts'
import { finishedResponse, outcomeOf, responseHead, toFlatAnnotation } from './response-object.ts'

/** Hub answer → response object. Further choices have no place in this dialect. */
export function encodeOpenAiResponses(response: ChatResponse, context: EncodeContext): unknown {
  const choice: ChatChoice = response.choices[0] ?? { parts: [], finish: 'stop' }
  const output = asksForCompaction(context.sentBody ?? {})
    ? [compactionItem(summaryIn(response), context.ambient)]
    : toOutput(choice, context)
  const answer = { reason: choice.finish, output, usage: response.usage }
  return finishedResponse(responseHead(response.id, context), answer, context)
}

type MessageContent = { type: 'message-content'; content: object[] }

/** What is said without interruption is one message. */
function groupContent(parts: ResponsePart[]): (MessageContent | ResponsePart)[] {
  const groups: (MessageContent | ResponsePart)[] = []
  let before = 0
  for (const part of parts) {
    const content = toContent(part, before)
    if (part.type === 'text') before += part.text.length
    const last = groups.at(-1)
    if (content === undefined) groups.push(part)
    else if (last?.type === 'message-content') last.content.push(...content)
    else if (content.length > 0) groups.push({ type: 'message-content', content })
  }
  return groups
}

/** `before`: the length of the text in the answer up to it; here offsets count in the part itself. */
function toContent(part: ResponsePart, before: number): object[] | undefined {
  switch (part.type) {
    case 'text': {
      const annotations = part.citations?.map((citation) => toFlatAnnotation(shifted(citation, -before)))
      return part.text === '' ? [] : [outputText(part.text, annotations)]
    }
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
    // Only what was said last can have been cut off.
    const isCut = cut && index === groups.length - 1
    const id = (prefix: string) => `${prefix}_${ambient.newId(24)}`
    switch (group.type) {
      case 'message-content':
        return [messageItem(id('msg'), group.content, isCut ? 'incomplete' : 'completed')]
      case 'reasoning': {
        const own = group.encrypted?.dialect === 'openai-responses' ? group.encrypted.data : undefined
        if (group.text === '' && own === undefined) return []
        return [reasoningItem(id('rs'), { text: group.text, encrypted: own }, 'completed')]
      }
      case 'tool-call': {
        const custom = group.kind === 'custom'
        const as = names.get(group.name)
        const call = { callId: group.id, name: group.name, custom, text: group.arguments, as }
        return [callItem(id(custom ? 'ctc' : 'fc'), call, callStatus(call, isCut))]
      }
      case 'image':
        return [imageItem(id('ig'), group.data, 'completed')]
      case 'web-search':
        return [searchItem(group.search)]
      case 'mcp-call':
        return [remoteCallItem(group.call)]
      default:
        return []
    }
  })
}
