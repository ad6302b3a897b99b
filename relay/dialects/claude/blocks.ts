import type { HostedBlocks } from '#relay/chat/hosted/claude-blocks.ts'
import { type CallWriter, createCallQueue } from '../call-queue.ts'
import { createOpenBlock, type OpenBlock } from './open-block.ts'

/** Calls as blocks. Free text travels as the one field of an object, as its tool was declared. */
const callBlocks = (block: OpenBlock): CallWriter => ({
  open({ id, name, custom }) {
    const content = { type: 'tool_use', id, name, input: {} }
    const opening = block.stop() + block.start('tool', content, ['input_json_delta', 'partial_json'])
    return custom ? opening + block.write(JSON.stringify('{"input":"')) : opening
  },
  write({ custom }, text) {
    if (text === '') return ''
    return block.write(JSON.stringify(custom ? JSON.stringify(text).slice(1, -1) : text))
  },
  // Anthropic's library for Java fails at a call without any input.
  close({ custom, text }) {
    const ending = custom ? '"}' : text.trim() === '' ? '{}' : ''
    return (ending === '' ? '' : block.write(JSON.stringify(ending))) + block.stop()
  },
})

/** The content blocks of a streamed message, one open at a time. */
export function createBlocks() {
  const block = createOpenBlock()
  const queue = createCallQueue(callBlocks(block))
  /** The open reasoning part has its proof, so what follows is another one. */
  let signed = false
  /** A block is cited as a whole, so what follows a source is another one. */
  let cited = false

  const closeAll = (): string => queue.finish() + block.stop()
  const ensureText = (): string => {
    if (block.kind() === 'text' && !cited) return ''
    cited = false
    return closeAll() + block.start('text', { type: 'text', text: '' }, ['text_delta', 'text'])
  }
  const ensureThinking = (): string => {
    if (block.kind() === 'thinking' && !signed) return ''
    signed = false
    const empty = { type: 'thinking', thinking: '', signature: '' }
    return closeAll() + block.start('thinking', empty, ['thinking_delta', 'thinking'])
  }

  return {
    called: () => queue.called(),
    call: (event: Parameters<typeof queue.take>[0]) => queue.take(event),
    text: (text: string): string => (text === '' ? '' : ensureText() + block.write(JSON.stringify(text))),
    thinking: (text: string): string => (text === '' ? '' : ensureThinking() + block.write(JSON.stringify(text))),
    signature(value: string): string {
      const opening = ensureThinking()
      signed = true
      return opening + block.writeOther('signature_delta', 'signature', value)
    },
    redacted: (data: string): string => closeAll() + block.complete({ type: 'redacted_thinking', data }),
    citation(citation: object): string {
      if (block.kind() !== 'text') return ''
      cited = true
      return block.writeOther('citations_delta', 'citation', citation)
    },
    /** A call that the vendor made itself, with what came of it. */
    hosted({ use, input, result }: HostedBlocks): string {
      const opening = closeAll() + block.start('tool', { ...use, input: {} }, ['input_json_delta', 'partial_json'])
      const called = opening + block.write(JSON.stringify(JSON.stringify(input))) + block.stop()
      return result ? called + block.complete(result) : called
    },
    /** Ends what is complete once the model has finished. */
    settle: closeAll,
    /** Ends all blocks; a message without any gets an empty text. */
    end(): string {
      const closing = closeAll()
      return block.any() ? closing : closing + block.complete({ type: 'text', text: '' })
    },
  }
}
