import { deflateSync, crc32 } from 'node:zlib'
import { Refusal } from './prompt.ts'
import type { Call, Reply } from './types.ts'

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

/** A red image of one pixel. */
export const pixel = Buffer.concat([
  Buffer.from('89504e470d0a1a0a', 'hex'),
  chunk('IHDR', Buffer.from('00000001000000010802000000', 'hex')),
  chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))),
  chunk('IEND', Buffer.alloc(0)),
])

/** Files for requests that name an address: `/media/pixel.png`, `/media/bytes/<count>`, `/media/redirect?to=<address>`. */
export function mediaReply({ path, query }: Pick<Call, 'path' | 'query'>): Reply {
  if (path === '/media/pixel.png') return { type: 'bytes', contentType: 'image/png', body: pixel }
  const count = /^\/media\/bytes\/(\d+)$/.exec(path)?.[1]
  if (count !== undefined)
    return { type: 'bytes', contentType: 'application/octet-stream', body: Buffer.alloc(Number(count), 'x') }
  const to = query.get('to')
  if (path === '/media/redirect' && to) return { type: 'json', status: 302, body: {}, headers: { location: to } }
  throw new Refusal({ status: 404, message: `no such file: ${path}` })
}
