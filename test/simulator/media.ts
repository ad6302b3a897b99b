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

/** An image in colours of eight bits each; `rows` have a zero before their pixels. */
function png(width: number, height: number, rows: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A red image of one pixel. */
export const pixel = png(1, 1, Buffer.from([0, 255, 0, 0]))

const side = 384

/** A sky over hills, in colours of its own for each number. */
function painting(number: number): Buffer {
  const rows = Buffer.alloc(side * (side * 3 + 1))
  const hue = (offset: number) => (index: number) => 128 + 110 * Math.sin(number + offset + index / side)
  const [red, green, blue] = [hue(0), hue(2), hue(4)]
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const hill = side * 0.62 + 34 * Math.sin(x / 47 + number) + 16 * Math.sin(x / 19 + number * 3)
      const shade = y > hill ? 0.45 : 1
      rows.set([red(y * 1.6) * shade, green(y * 1.2) * shade, blue(x * 0.6) * shade], y * (side * 3 + 1) + 1 + x * 3)
    }
  }
  return png(side, side, rows)
}

const chatPage = `<!doctype html><meta charset="utf-8"><title>Chat</title><body style="font:16px system-ui;padding:2rem;color-scheme:light dark">
<h1 style="font-size:1.2rem">网页聊天（演示）</h1><p>这里会显示管理员配置的聊天程序，它从地址中得到服务器地址和令牌：</p>
<pre id="given" style="white-space:pre-wrap"></pre>
<script>try { const { url, key } = JSON.parse(decodeURIComponent(location.hash.slice(1)))
given.textContent = url + '\\n' + key.slice(0, 6) + '…' } catch { given.textContent = '–' }</script>`

/**
 * Files for requests that name an address: `/media/pixel.png`, `/media/bytes/<count>`, `/media/redirect?to=<address>`, and
 * what the demo shows: `/media/painting-<number>.png`, `/media/chat.html`.
 */
export function mediaReply({ path, query }: Pick<Call, 'path' | 'query'>): Reply {
  if (path === '/media/pixel.png') return { type: 'bytes', contentType: 'image/png', body: pixel }
  const number = /^\/media\/painting-(\d{1,4})\.png$/.exec(path)?.[1]
  if (number !== undefined) return { type: 'bytes', contentType: 'image/png', body: painting(Number(number)) }
  if (path === '/media/chat.html')
    return { type: 'bytes', contentType: 'text/html; charset=utf-8', body: Buffer.from(chatPage) }
  const count = /^\/media\/bytes\/(\d+)$/.exec(path)?.[1]
  if (count !== undefined)
    return { type: 'bytes', contentType: 'application/octet-stream', body: Buffer.alloc(Number(count), 'x') }
  const to = query.get('to')
  if (path === '/media/redirect' && to) return { type: 'json', status: 302, body: {}, headers: { location: to } }
  throw new Refusal({ status: 404, message: `no such file: ${path}` })
}
