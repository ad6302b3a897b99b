import { DomainError } from '#core/errors.ts'
import type { Body } from '#features/request-bodies/read-body.ts'
import type { CallBody } from '#relay/request/call.ts'
import { parseJson, routingNames } from '#relay/request/read-body.ts'
import type { PlainRequest } from '#relay/providers/types.ts'

/** JSON as it is; a form with its text fields as the JSON and its files beside it. */
export async function readPlainRequest(sent: Body, contentType: string): Promise<PlainRequest & { body: CallBody }> {
  const { bytes, holding } = sent
  if (!contentType.toLowerCase().startsWith('multipart/form-data')) {
    const { json, fields } = await parseJson(sent)
    return { json, form: null, body: { bytes, json, fields } }
  }
  // The form has its parts twice beside the bytes: as files, and as what is made of them.
  await holding.raise(3 * bytes.length)
  const form = await new Response(bytes as BodyInit, { headers: { 'content-type': contentType } })
    .formData()
    .catch((cause: unknown) => {
      throw new DomainError('relay.body_invalid', { detail: 'the form cannot be read' }, { cause })
    })
  for (const name of routingNames) form.delete(name)
  const json: Record<string, unknown> = Object.fromEntries(
    [...form.entries()].filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
  const given = form.get('file')
  const file = given instanceof Blob ? new Uint8Array(await given.arrayBuffer()) : undefined
  const readImages = async (): Promise<string[]> => {
    // Written as text they are a third longer, and so are the body that they go into and its bytes.
    await holding.raise(6 * bytes.length)
    const addresses: string[] = []
    for (const image of imagesIn(form)) addresses.push(await dataAddress(image))
    return addresses
  }
  return { json, form, file, readImages, body: { bytes, json } }
}

const dataAddress = async (given: File): Promise<string> =>
  `data:${given.type || 'image/png'};base64,${Buffer.from(await given.arrayBuffer()).toString('base64')}`

/** The files under `image`, given once or several times, or as a list. */
const imagesIn = (form: FormData): File[] =>
  [...form.entries()].flatMap(([name, value]) =>
    /^image(\[\d*\])?$/.test(name) && typeof value !== 'string' ? [value] : [],
  )
