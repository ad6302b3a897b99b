import type { Drawing } from '#core/usage.ts'
import { type Json, wordOf } from './json.ts'

/** A drawing with what the tool that drew says of it, where an image does not say it itself. */
export const drawnWith = (tool: Readonly<Json>, drawing: Drawing): Drawing => ({
  ...drawing,
  model: wordOf(tool['model']) ?? drawing.model,
  images: drawing.images.map(({ quality, size }) => ({
    quality: quality || (wordOf(tool['quality']) ?? ''),
    size: size || (wordOf(tool['size']) ?? ''),
  })),
})
