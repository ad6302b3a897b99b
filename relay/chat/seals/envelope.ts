import type { DialectId } from '../request.ts'

/** Compresses, encrypts and authenticates bytes that leave the installation and come back. */
export type Sealer = {
  seal: (bytes: Uint8Array) => Buffer
  /** Nothing for bytes of another installation, or changed ones. */
  unseal: (bytes: Uint8Array) => Buffer | undefined
}

/** Who made a proof, as far as the vendor looks at it when it comes back. */
export type Maker = {
  dialect: DialectId
  /** The model, where its vendor takes a proof back for no other. */
  model?: string | undefined
  /** The account, where nobody else can read the proof. */
  account?: string | undefined
}

/** What one vendor proves of its reasoning: a signature of shown reasoning, a hidden reasoning part, the reasoning behind a call. */
export type Proof = { kind: 'signature' | 'encrypted' | 'call'; text: string; value: string }

export type Seal = { maker: Maker; proofs: Proof[] }

/**
 * What every sealed text begins with. All of it is of the alphabet of base64, and its length a whole number of groups, for
 * Google decodes what it is given before it looks at it.
 */
const mark = 'gatewaySeal1'

/** A longer one is not written, and no caller is made to send it again with every turn. */
const longestSeal = 1024 * 1024

/** What one envelope may hold: it is compressed, and little of it may become a great deal. */
const largestContent = 16 * 1024 * 1024

export const isSealed = (text: string): boolean => text.startsWith(mark)

/** The envelope as one line of base64; nothing where it would be too long. */
export function writeSeal({ maker, proofs }: Seal, sealer: Sealer): string | undefined {
  const content = {
    d: maker.dialect,
    m: maker.model,
    a: maker.account,
    p: proofs.map(({ kind, text, value }) => [kind, text, value]),
  }
  const bytes = Buffer.from(JSON.stringify(content))
  if (bytes.length > largestContent) return undefined
  const text = mark + sealer.seal(bytes).toString('base64')
  return text.length > longestSeal ? undefined : text
}

/** What an envelope of this installation holds; nothing where it is none, or was changed. */
export function readSeal(text: string, sealer: Sealer): Seal | undefined {
  if (!isSealed(text) || text.length > longestSeal) return undefined
  const bytes = sealer.unseal(Buffer.from(text.slice(mark.length), 'base64'))
  if (bytes === undefined) return undefined
  // What was sealed here was written by `writeSeal` and nobody else.
  const content = JSON.parse(bytes.toString()) as {
    d: DialectId
    m?: string
    a?: string
    p: [Proof['kind'], string, string][]
  }
  return {
    maker: { dialect: content.d, model: content.m, account: content.a },
    proofs: content.p.map(([kind, written, value]) => ({ kind, text: written, value })),
  }
}
