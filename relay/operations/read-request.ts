import { DomainError } from '#core/errors.ts'
import type { Body } from '#features/request-bodies/read-body.ts'
import { lossNames } from '#relay/chat/losses.ts'
import {
  parseJson,
  plainName,
  type ReadBody,
  routingNames,
  routingPlaces,
  withoutMisleading,
} from '#relay/request/read-body.ts'
import type { PlainRequest } from '#relay/providers/types.ts'

/** A form has some fields and a few images; each part takes as much memory as a small file does, whatever is in it. */
const mostParts = 1000
const bytesOfPart = 2048

/** How many parts a form has, or lines in them that begin like one; counted no further than is of use. */
function partsIn(bytes: Buffer): number {
  let count = 1
  for (let at = bytes.indexOf('\r\n--'); at >= 0 && count <= mostParts; at = bytes.indexOf('\r\n--', at + 4)) count += 1
  return count
}

/**
 * JSON as it is; a form with its text fields as the JSON and its files beside it.
 * @throws {DomainError} relay.body_invalid
 */
export async function readPlainRequest(sent: Body, contentType: string): Promise<PlainRequest & { body: ReadBody }> {
  const { bytes, holding } = sent
  if (!contentType.toLowerCase().startsWith('multipart/form-data')) {
    const body = await parseJson(sent)
    return { json: body.json, form: null, body }
  }
  const { length } = bytes
  const parts = partsIn(bytes)
  if (parts > mostParts) throw new DomainError('relay.body_invalid', { detail: 'the form has too many parts' })
  // What has been read of a form stands beside its bytes, and the files made of that beside both.
  await holding.raise(3 * length + parts * bytesOfPart)
  const form = await new Response(bytes as BodyInit, { headers: { 'content-type': contentType } })
    .formData()
    .catch((cause: unknown) => {
      throw new DomainError('relay.body_invalid', { detail: 'the form cannot be read' }, { cause })
    })
  const dropped = dropMisleading(form)
  refuseDoubles(form)
  const json: Record<string, unknown> = Object.fromEntries(textsIn(form))
  const fileWords = [...form].flatMap(([name, value]) =>
    typeof value === 'string' ? [] : [name, value.name, value.type],
  )
  // From here on there are the files, and what is sent of them: the bytes that came are let go.
  holding.lower(2 * length)
  const readFile = async (): Promise<Uint8Array | undefined> => {
    const file = form.get('file')
    if (!(file instanceof Blob)) return undefined
    // Some vendors take it as text: a third longer, and so are the body that it goes into and its bytes.
    await holding.raise(6 * length)
    return new Uint8Array(await file.arrayBuffer())
  }
  const readImages = async (): Promise<string[]> => {
    // The same without a copy in bytes.
    await holding.raise(5 * length)
    const addresses: string[] = []
    for (const image of imagesIn(form)) addresses.push(await dataAddress(image))
    return addresses
  }
  return {
    json,
    form,
    readFile,
    readImages,
    body: { bytes: Buffer.from(JSON.stringify(json)), json, dropped, fileWords },
  }
}

const textsIn = (form: FormData): [string, string][] =>
  [...form.entries()].filter((entry): entry is [string, string] => typeof entry[1] === 'string')

/** Documented lists; what callers give of each is sent, with or without a place in it. */
const listField = /^(image|include|known_speaker_names|known_speaker_references|timestamp_granularities)\[\d*\]$/

/** What a call is priced by: under another name it would be so by an upstream alone. */
const priced = new Set(['model', 'n', 'size', 'quality'])

/** What aims a call elsewhere, under whatever name a reader takes for it. */
const aiming = new Set([...routingNames, ...Object.keys(routingPlaces)].map(plainName))

/**
 * Takes out of a form what is taken out of JSON, and names that some readers of forms take for another's: `model[]` for `model`,
 * `models[]` for a list of them.
 */
function dropMisleading(form: FormData): string[] {
  const { dropped } = withoutMisleading(Object.fromEntries(form))
  for (const name of new Set(form.keys())) {
    const plain = plainName(name)
      .trim()
      .replace(/[[.].*$/s, '')
    const isLookalike = plain !== name && !listField.test(name) && (priced.has(plain) || form.has(plain))
    if (isLookalike || aiming.has(plain)) dropped.push(name)
  }
  for (const name of dropped) form.delete(name)
  return lossNames([...new Set(dropped)])
}

/** Which of several an upstream reads is its own business; the one that is screened and measured has to be it. */
function refuseDoubles(form: FormData): void {
  if (form.getAll('file').length > 1)
    throw new DomainError('relay.body_invalid', { detail: 'the form has more than one file' })
  const [double] = textsIn(form).find(([name]) => !name.endsWith('[]') && form.getAll(name).length > 1) ?? []
  if (double === undefined) return
  throw new DomainError('relay.body_invalid', { detail: `the form has ${double.slice(0, 100)} more than once` })
}

const dataAddress = async (given: File): Promise<string> =>
  `data:${given.type || 'image/png'};base64,${Buffer.from(await given.arrayBuffer()).toString('base64')}`

/** The files under `image`, given once or several times, or as a list. */
const imagesIn = (form: FormData): File[] =>
  [...form.entries()].flatMap(([name, value]) =>
    /^image(\[\d*\])?$/.test(name) && typeof value !== 'string' ? [value] : [],
  )
