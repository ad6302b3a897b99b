import type { ImagePart } from '#relay/chat/request.ts'
import { imageSize } from './image-size.ts'

const shortestSide = 768
const tileSide = 512
/** An image costs this many times the base where its size is not looked at. */
const flatFactor = 3

const tokensOf = (model: string): { base: number; tile: number } =>
  model.startsWith('gpt-4o-mini') ? { base: 2833, tile: 5667 } : { base: 85, tile: 170 }

/** What an image costs without looking at it. */
export function flatImageTokens(image: ImagePart, model: string): number {
  if (model === 'glm-4v') return 1047
  const { base } = tokensOf(model)
  return image.detail === 'low' ? base : flatFactor * base
}

/** What an image costs by its size; one whose bytes are not at hand or unreadable costs the flat count. */
export function imageTokens(image: ImagePart, model: string): number {
  const size = image.source.kind === 'base64' ? imageSize(image.source.data) : undefined
  if (size === undefined || image.detail === 'low' || model === 'glm-4v') return flatImageTokens(image, model)
  const short = Math.min(size.width, size.height)
  const shrunk = Math.min(short, shortestSide)
  const tiles = [size.width, size.height].map((side) => Math.ceil(Math.ceil((side * shrunk) / short) / tileSide))
  const { base, tile } = tokensOf(model)
  return tiles.reduce((all, along) => all * along, tile) + base
}
