import { namesUnseen } from '#relay/counting/unseen-input.ts'
import { type Json, recordsOf, textOf } from '#relay/providers/shared/json.ts'
import { type AudioFormat, secondsOf } from './audio-format.ts'
import { createInputCount, type InputCount, type InputSize } from './input-count.ts'
import { textsAdded, textsReplayed } from './item-texts.ts'
import { describeTool, tokensOfATool } from './session-settings.ts'

/** What one response alone is given. */
export type OwnInput = {
  count: InputCount
  /** The same by the cheap count. */
  size: InputSize
  /** A list of its own takes the place of the conversation. */
  readsConversation: boolean
  /** It names what its upstream reads by itself. */
  readsUnseen: boolean
  /** Its answer is not added to the conversation. */
  isBeside: boolean
}

export const emptyOwnInput = (model: string): OwnInput => ({
  count: createInputCount(model),
  size: { text: 0, seconds: 0 },
  readsConversation: true,
  readsUnseen: false,
  isBeside: false,
})

/** Counts the audio and the images of an item. */
export function countMedia(
  item: Json,
  { count, size, format }: { count: InputCount; size: InputSize; format: AudioFormat },
): void {
  for (const part of recordsOf(item['content'])) {
    if (part['type'] === 'input_audio') size.seconds += count.addSeconds(secondsOf(textOf(part['audio']) ?? '', format))
    else if (part['type'] === 'input_image') size.text += count.addImage(part)
  }
}

/** By the fields of the event that asks for the response. */
export function ownInputOf(response: Json, { model, format }: { model: string; format: AudioFormat }): OwnInput {
  const own = emptyOwnInput(model)
  const { count, size } = own
  const list = Array.isArray(response['input']) ? recordsOf(response['input']) : undefined
  const add = (text: string, alongside = 0): void => void (size.text += count.addText(text, alongside) + alongside)
  add(textOf(response['instructions']) ?? '')
  for (const item of list ?? []) {
    countMedia(item, { count, size, format })
    for (const text of [...textsAdded(item), ...textsReplayed(item)]) add(text)
  }
  for (const tool of recordsOf(response['tools'])) add(describeTool(tool), tokensOfATool)
  // Items of the conversation may be named in it.
  own.readsConversation = list === undefined || list.some(({ type }) => type === 'item_reference')
  own.readsUnseen = namesUnseen(response)
  own.isBeside = response['conversation'] === 'none'
  return own
}
