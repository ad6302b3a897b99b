import { cheapTextTokens } from '#relay/counting/cheap-count.ts'
import { namesUnseen } from '#relay/counting/unseen-input.ts'
import { type Json, recordOf, recordsOf, textOf } from '#relay/providers/shared/json.ts'
import { audioFormatsOf, pcm16 } from './audio-format.ts'
import type { InputCount } from './input-count.ts'
import { transcriberOf } from './transcription.ts'

/** Names a tool and its description and parameters bring along in each response. */
export const tokensOfATool = 8

/** What a tool adds to the prompt; some upstreams take the nested form of chats. */
export function describeTool(tool: Json): string {
  const { name, description, parameters } = recordOf(tool['function']) ?? tool
  return [textOf(name) ?? '', textOf(description) ?? '', JSON.stringify(parameters ?? '')].join('')
}

const cheapTokensOf = (tools: readonly Json[]): number =>
  tools.reduce((sum, tool) => sum + cheapTextTokens(describeTool(tool)) + tokensOfATool, 0)

/** Whether whoever speaks is answered without asking; undefined where nothing is said of it. */
function beginsAfterPauses(session: Json): boolean | undefined {
  const input = recordOf(recordOf(session['audio'])?.['input'])
  const detection = input?.['turn_detection'] ?? session['turn_detection']
  const isOff = input?.['turn_detection'] === null || session['turn_detection'] === null
  if (detection === undefined || detection === null) return isOff ? false : undefined
  return recordOf(detection)?.['create_response'] !== false
}

/** What holds for the responses of a session. */
export function createSessionSettings() {
  let formats = { input: pcm16, output: pcm16 }
  let tools: Json[] = []
  let toolTokens = 0
  let outputsAudio = true
  let transcriber: string | undefined
  let readsUnseen = false
  let beginsItself = true

  return {
    /** The caller asks for these; the responses that it asks for next will have them. */
    request: (update: Json): void => {
      toolTokens = Math.max(toolTokens, cheapTokensOf(recordsOf(update['tools'])))
      readsUnseen ||= namesUnseen(update)
    },
    /** The upstream has these. */
    learn: (session: Json): void => {
      formats = { ...formats, ...audioFormatsOf(session) }
      transcriber = transcriberOf(session) ?? transcriber
      readsUnseen ||= namesUnseen(session)
      const modalities = session['output_modalities'] ?? session['modalities']
      if (Array.isArray(modalities)) outputsAudio = modalities.includes('audio')
      beginsItself = beginsAfterPauses(session) ?? beginsItself
      if (!Array.isArray(session['tools'])) return
      tools = recordsOf(session['tools'])
      toolTokens = cheapTokensOf(tools)
    },
    /** Each response reads the tools again. */
    addTools: (count: InputCount): void => {
      for (const tool of tools) count.addText(describeTool(tool), tokensOfATool)
    },
    get formats() {
      return formats
    },
    /** By the cheap count. */
    get toolTokens() {
      return toolTokens
    },
    get outputsAudio() {
      return outputsAudio
    },
    /** The model that transcribes the input; absent where none does. */
    get transcriber() {
      return transcriber
    },
    /** The upstream begins responses as somebody has spoken. */
    get beginsItself() {
      return beginsItself
    },
    /** The upstream reads what the caller names and does not bring along. */
    get readsUnseen() {
      return readsUnseen
    },
  }
}
