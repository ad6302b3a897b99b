import { openAiCompatible } from '../index.ts'
import { unpackedEmbeddings } from '../plain.ts'
import type { OpenAiStyle } from '../style.ts'

const style: OpenAiStyle = { id: 'jina', label: 'Jina AI', channelTypes: [38] }

/** Embeddings, of texts and images in one list, and rankings; there is no chat to speak of. */
export const jina = openAiCompatible({ ...style, plain: { embeddings: unpackedEmbeddings(style) } })
