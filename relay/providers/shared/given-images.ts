import { DomainError } from '#core/errors.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import type { PlainRequest } from '../types.ts'
import { numberOf, recordOf, textOf, wordOf } from './json.ts'

/** Fields of a form are texts. */
export const countIn = (value: unknown): number | undefined => numberOf(value) ?? (Number(textOf(value)) || undefined)

const addressesIn = (given: unknown): string[] =>
  (Array.isArray(given) ? given : [given]).flatMap((image: unknown) => {
    const named = recordOf(image)
    return wordOf(named ? (named['image_url'] ?? named['url']) : image) ?? []
  })

/**
 * The addresses of the images to edit, for vendors that read what to change in words alone.
 * @throws {DomainError} unsupported.mask, unsupported.edited_images
 */
export function imagesToEdit({ json, form, images }: PlainRequest, most: number): string[] {
  if (json['mask'] !== undefined || form?.has('mask')) throw new DomainError('unsupported.mask')
  const given = images?.length ? images : addressesIn(json['image'] ?? json['images'])
  if (given.length === 0) throw new InvalidRequest('invalid_image_request', 'image is required')
  if (given.length > most) throw new DomainError('unsupported.edited_images', { most })
  return given
}
